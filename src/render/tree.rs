//! JSON as it is put together for a request: objects whose members keep their order, the app's own JSON among them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::arguments::ArgumentsObject;
use crate::json::{Json, Members};
use crate::text::{Text, TextSlice};

/// One JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node<'a> {
    /// A string.
    Text(Cow<'a, Text>),
    /// A string that is part of another.
    Slice(TextSlice<'a>),
    /// A string that is known to be Unicode.
    Name(Cow<'a, str>),
    /// `true` or `false`.
    Bool(bool),
    /// The app's or a provider's own value, as it came.
    Json(Cow<'a, Json>),
    /// The arguments of a call, as an object.
    Arguments(ArgumentsObject<'a>),
    /// A list.
    List(Vec<Node<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// A JSON object in the order in which its members were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a>(Vec<(Name, Node<'a>)>);

/// The name of a member.
#[derive(Clone, Debug, PartialEq)]
enum Name {
    /// One that an API has.
    Known(&'static str),
    /// One of a provider's or the app's own.
    Other(Text),
}

impl Name {
    fn as_str(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Other(name) => name.as_str().unwrap_or_default(),
        }
    }
}

impl<'a> Object<'a> {
    /// An object without members.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// An object of the given `type`.
    pub fn of_type(name: &'static str) -> Self {
        Self::new().with("type", name)
    }

    /// The object with one more member.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Node<'a>>) -> Self {
        self.set(name, value);
        self
    }

    /// The object with one more member, when there is a value.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl Into<Node<'a>>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The object with the members of a JSON object whose names are not taken.
    #[must_use]
    pub fn with_members(self, json: Option<&Json>) -> Self {
        self.with_members_but(json, &[])
    }

    /// The same, without the members of some names.
    #[must_use]
    pub fn with_members_but(mut self, json: Option<&Json>, left_out: &[&str]) -> Self {
        // The names within one object differ, so only those from before can be taken.
        let own = self.0.len();
        for (name, value) in json.map(members).unwrap_or_default() {
            let name = Name::Other(name);
            let is_taken = self.0[..own].iter().any(|(own, _)| own.as_str() == name.as_str());
            if !is_taken && !left_out.contains(&name.as_str()) {
                self.0.push((name, Node::Json(Cow::Owned(value))));
            }
        }
        self
    }

    /// The object with a member that it has, unless it is set already.
    #[must_use]
    pub fn with_default(self, name: &'static str, value: impl Into<Node<'a>>) -> Self {
        if self.has(name) { self } else { self.with(name, value) }
    }

    /// Sets a member that is not set yet.
    pub fn set(&mut self, name: &'static str, value: impl Into<Node<'a>>) {
        self.0.push((Name::Known(name), value.into()));
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own.as_str() == name)
    }
}

/// The members of a JSON object, in order. None when it is no object.
///
/// A member whose name holds half a surrogate pair is left out: no JSON printer takes it for a name, and no provider.
pub fn members(json: &Json) -> Members {
    struct Object(Members);

    impl<'de> Deserialize<'de> for Object {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct ObjectVisitor;

            impl<'de> Visitor<'de> for ObjectVisitor {
                type Value = Object;

                fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    formatter.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                    let mut members = Members::new();
                    while let Some((name, value)) = map.next_entry::<Text, Json>()? {
                        if name.as_str().is_some() {
                            members.push((name, value));
                        }
                    }
                    Ok(Object(members))
                }
            }

            deserializer.deserialize_map(ObjectVisitor)
        }
    }

    serde_json::from_str::<Object>(json.as_str()).map(|object| object.0).unwrap_or_default()
}

/// One member of a JSON object.
pub fn member(json: Option<&Json>, name: &str) -> Option<Json> {
    members(json?).into_iter().find(|(own, _)| *own == *name).map(|(_, value)| value)
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Slice(text) => text.serialize(serializer),
            Self::Name(name) => serializer.serialize_str(name),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Json(json) => json.serialize(serializer),
            Self::Arguments(arguments) => arguments.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name.as_str(), value)?;
        }
        map.end()
    }
}

impl From<&'static str> for Node<'_> {
    fn from(name: &'static str) -> Self {
        Self::Name(Cow::Borrowed(name))
    }
}

impl From<Text> for Node<'_> {
    fn from(text: Text) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a Text> for Node<'a> {
    fn from(text: &'a Text) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<Cow<'a, Text>> for Node<'a> {
    fn from(text: Cow<'a, Text>) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<TextSlice<'a>> for Node<'a> {
    fn from(text: TextSlice<'a>) -> Self {
        Self::Slice(text)
    }
}

impl<'a> From<Cow<'a, str>> for Node<'a> {
    fn from(name: Cow<'a, str>) -> Self {
        Self::Name(name)
    }
}

impl From<bool> for Node<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Json> for Node<'_> {
    fn from(json: Json) -> Self {
        Self::Json(Cow::Owned(json))
    }
}

impl<'a> From<&'a Json> for Node<'a> {
    fn from(json: &'a Json) -> Self {
        Self::Json(Cow::Borrowed(json))
    }
}

impl<'a> From<ArgumentsObject<'a>> for Node<'a> {
    fn from(arguments: ArgumentsObject<'a>) -> Self {
        Self::Arguments(arguments)
    }
}

impl<'a> From<Vec<Node<'a>>> for Node<'a> {
    fn from(list: Vec<Node<'a>>) -> Self {
        Self::List(list)
    }
}

impl<'a> From<Vec<Object<'a>>> for Node<'a> {
    fn from(list: Vec<Object<'a>>) -> Self {
        Self::List(list.into_iter().map(Node::Object).collect())
    }
}

impl<'a> From<Object<'a>> for Node<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_json;

    #[test]
    fn members_keep_their_order_and_what_is_set_wins() {
        let extra = Json::new(r#"{"b":1.50,"type":"x","\ud800":1,"a":{"\ud83d\ude00":[]}}"#.to_owned());
        let object = Object::of_type("t").with("z", true).with_members(extra.as_ref());
        assert_eq!(to_json(&object), r#"{"type":"t","z":true,"b":1.50,"a":{"\ud83d\ude00":[]}}"#);
        assert_eq!(to_json(&Object::new().with_members(Json::new("[1]".to_owned()).as_ref())), "{}");
    }
}
