//! Finds the operation of a request.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::operations::OPERATIONS;
use super::path_segments::segments;
use crate::call::operation::Operation;

/// Where a request leads.
#[derive(Debug)]
pub enum RouteMatch {
    /// To an operation, with the parameters of its path.
    Operation(&'static Operation, Vec<String>),
    /// To a path that has other methods.
    OtherMethods(String),
    /// Nowhere.
    Nothing,
}

/// The operations by how many segments their paths have, and by the second one, which is a word wherever
/// there is one.
static ROUTES: LazyLock<HashMap<(usize, &'static str), Vec<Route>>> = LazyLock::new(|| {
    let mut routes: HashMap<_, Vec<Route>> = HashMap::new();
    for operation in &OPERATIONS {
        let segments: Vec<&str> = operation.path.split('/').skip(1).collect();
        let word = segments.get(1).copied().unwrap_or_default();
        let parameters = operation.parameters().count();
        let alike = routes.entry((segments.len(), word)).or_default();
        alike.push(Route {
            operation,
            segments,
            parameters,
        });
    }
    routes
});

struct Route {
    operation: &'static Operation,
    segments: Vec<&'static str>,
    parameters: usize,
}

impl Route {
    /// Whether a path of as many decoded segments is one of this operation.
    fn matches(&self, path: &[Cow<'_, str>]) -> bool {
        let mut pairs = self.segments.iter().zip(path);
        pairs.all(|(own, given)| {
            if own.starts_with('{') {
                !given.is_empty()
            } else {
                own == given
            }
        })
    }

    fn parameters(&self, path: &[Cow<'_, str>]) -> Vec<String> {
        let pairs = self.segments.iter().zip(path);
        let parameters = pairs.filter(|(own, _)| own.starts_with('{'));
        parameters.map(|(_, given)| given.to_string()).collect()
    }
}

/// Finds the operation of a method and a path. Segments are decoded before they are compared, so
/// that `rows%3Abatch` is `rows:batch`; what is no text is an id that is none.
pub fn find(method: &str, path: &str) -> RouteMatch {
    // The response to a HEAD is that to a GET, without the body.
    let method = if method == "HEAD" { "GET" } else { method };
    let segments: Vec<Cow<'_, str>> = segments(path).collect();
    let word = segments.get(1).map_or("", |word| word);
    let alike = ROUTES.get(&(segments.len(), word));
    let routes = alike.map_or(&[][..], Vec::as_slice);
    let matching = || routes.iter().filter(|route| route.matches(&segments));
    // A word that is a path of its own is not an id in another one.
    let Some(least) = matching().map(|route| route.parameters).min() else {
        return RouteMatch::Nothing;
    };
    let found = || matching().filter(|route| route.parameters == least);
    if let Some(route) = found().find(|route| route.operation.method == method) {
        return RouteMatch::Operation(route.operation, route.parameters(&segments));
    }
    let mut methods: Vec<&str> = found().map(|route| route.operation.method).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    RouteMatch::OtherMethods(methods.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{RouteMatch, find};

    #[test]
    fn paths_are_compared_decoded_and_whole() {
        let leads = |method: &str, path: &str| match find(method, path) {
            RouteMatch::Operation(operation, parameters) => format!("{operation:?} {parameters:?}"),
            RouteMatch::OtherMethods(methods) => methods,
            RouteMatch::Nothing => "nothing".to_owned(),
        };
        let organization = "GET /v1/organizations/{organization_id} [\"a/b\"]";
        assert_eq!(leads("GET", "/v1/org%61nizations/a%2Fb"), organization);
        let no_text = leads("GET", "/v1/organizations/%ff");
        assert!(no_text.starts_with("GET /v1/organizations/{organization_id}"));
        assert_eq!(leads("HEAD", "/v1/health"), "GET /v1/health []");
        assert_eq!(leads("PUT", "/v1/organizations/x"), "GET, HEAD, PATCH");
        assert_eq!(leads("POST", "/v1/health"), "GET, HEAD");
        assert_eq!(leads("PATCH", "/v1/templates/import"), "POST");
        assert_eq!(leads("GET", "/v1/templates/import"), "POST");
        assert_eq!(leads("GET", "/"), "GET / []");
        for nothing in [
            "",
            "/v1",
            "/v1/health/",
            "//v1/health",
            "/V1/health",
            "/v1/organizations/",
            "/v1/%FF",
            "/v1/%FF/x",
            "*",
        ] {
            assert_eq!(leads("GET", nothing), "nothing", "{nothing}");
        }
    }
}
