//! Owned values inside documents that serde reads and writes: numbers keep their digits.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Value;

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({})
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.write()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Value::parse(raw.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{Object, Value};

    #[test]
    fn digits_and_order_survive() {
        let text = r#"{"b":[1.10,1e400,{}],"a":"é\n","c":null}"#;
        let object: Object = serde_json::from_str(text).expect("reads");
        assert_eq!(serde_json::to_string(&object).expect("writes"), text);
        assert_eq!(Value::Object(object).write(), text);
    }
}
