//! The step `agent.route`: asks a model which route to take, over an interface compatible with
//! `OpenAI`.

use reqwest::Client;
use tplkit::automation::run::Failure;
use tplkit::json::{Object, Value as Json};
use url::Url;

use super::echo::without_token;
use super::http::receive;
use crate::automation::connections::OpenConnection;

/// Asks, and gives the name of the route.
///
/// # Errors
/// Whatever keeps a response from coming, and a response that names no route.
pub(in crate::automation) async fn request_completion(
    client: &Client,
    connection: &OpenConnection,
    prompt: &str,
    routes: &[(String, String)],
    api_key: Option<&str>,
) -> Result<Object, Failure> {
    let mut url = Url::parse(&connection.url)
        .map_err(|_| Failure::at("connectionName", "the connection has no good address"))?;
    let model = url.query_pairs().find(|(name, _)| name == "model");
    let model = model.map(|(_, model)| model.into_owned());
    let model = model.ok_or_else(|| {
        let reason = "the address of the connection names no model: end it with ?model=NAME";
        Failure::at("connectionName", reason)
    })?;
    url.set_query(None);
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.set_path(&path);
    let choices: Vec<String> = routes
        .iter()
        .map(|(name, when)| format!("- {name}: {when}"))
        .collect();
    let system = format!(
        "Choose one of these routes. Answer with its name alone.\n{}",
        choices.join("\n")
    );
    let message = |role: &str, content: &str| {
        Json::Object(Object::from_iter([
            ("role".to_owned(), role.into()),
            ("content".to_owned(), content.into()),
        ]))
    };
    let body = Json::Object(Object::from_iter([
        ("model".to_owned(), model.into()),
        ("temperature".to_owned(), 0.into()),
        (
            "messages".to_owned(),
            vec![message("system", &system), message("user", prompt)].into(),
        ),
    ]));
    let mut request = client
        .post(url)
        .header("content-type", "application/json")
        .body(body.write());
    let key = api_key.or(connection.secret.as_deref());
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let (status, text) = receive(request).await?;
    let text = without_token(text, key);
    if status != 200 {
        let reason = format!("the model's server returned status {status}");
        return Err(Failure::at("connectionName", reason));
    }
    let completion = completion_text(&text).unwrap_or_default();
    let route = chosen(&completion, routes).ok_or_else(|| {
        let names: Vec<&str> = routes.iter().map(|(name, _)| name.as_str()).collect();
        let reason = format!("the model chose none of {}", names.join(", "));
        Failure::at("routes", reason).yields(None, &completion.as_str().into())
    })?;
    Ok(Object::from_iter([("route".to_owned(), route.into())]))
}

fn completion_text(text: &str) -> Option<String> {
    let response = Json::parse(text).ok()?;
    let choice = response.get("choices")?.as_list()?.first()?;
    let content = choice.get("message")?.get("content")?.as_str()?;
    Some(content.to_owned())
}

/// The route that a response names: by its name alone, or as the only one in a sentence.
fn chosen<'r>(completion: &str, routes: &'r [(String, String)]) -> Option<&'r str> {
    let bare = completion
        .trim()
        .trim_matches(['"', '\'', '`', '.', '*'])
        .trim();
    let names = routes.iter().map(|(name, _)| name.as_str());
    if let Some(name) = names.clone().find(|name| name.eq_ignore_ascii_case(bare)) {
        return Some(name);
    }
    let mut inside = names.filter(|name| !name.is_empty() && completion.contains(name));
    let first = inside.next()?;
    inside.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn a_route_is_named_alone_or_as_the_only_one() {
        let routes = ["refund", "complaint"].map(|name| (name.to_owned(), String::new()));
        for (completion, route) in [
            ("refund", Some("refund")),
            (" \"Refund\".\n", Some("refund")),
            ("I choose complaint, since …", Some("complaint")),
            ("refund or complaint", None),
            ("neither", None),
            ("", None),
        ] {
            assert_eq!(chosen(completion, &routes), route, "{completion}");
        }
    }
}
