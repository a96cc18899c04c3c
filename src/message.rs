//! One message of a conversation, in the three shapes it has: as the app gave it, as it stands in the window, and
//! as it stands in the archive.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::{Json, Loose, Members, Number, keep_member, member, to_json};
use crate::recall::Vector;
use crate::text::{Text, TextSlice};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Instructions.
    System,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// The role's name in every provider's API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }

    /// The role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::System, Self::Tool].into_iter().find(|role| role.as_str() == name)
    }
}

/// The arguments of a tool call: the string that the provider streamed, or an object the app had parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// A string, as it came; usually JSON, not necessarily.
    Text(Text),
    /// An object, as `JSON.stringify` printed it.
    Object(Json),
}

/// One call of a tool by the assistant.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The provider's id of the call, which its result names.
    pub id: Text,
    /// The tool's name.
    pub name: Text,
    /// What the tool is called with.
    pub arguments: Arguments,
    /// What most calls do not have. Boxed, so that a plain call stays small.
    pub origin: Option<Box<CallOrigin>>,
}

/// What a call keeps of the provider that it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallOrigin {
    /// Whether the tool takes free text: the arguments are that text, and no JSON.
    pub custom: bool,
    /// The id of the item that made the call, where items have ids of their own.
    pub item_id: Option<Text>,
    /// Members that only this provider knows.
    pub extra: Option<Json>,
}

/// The tool calls of a message: read, and beside it the app's own JSON with whatever else it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCalls {
    /// The calls in order.
    pub calls: Vec<ToolCall>,
    /// The list as the app gave it.
    pub json: Json,
}

/// The members that most messages do not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The speaker's name; `null` is kept, since only `undefined` means that there is none.
    pub name: Option<Loose<Text>>,
    /// The calls of an assistant turn.
    pub tool_calls: Option<ToolCalls>,
    /// The call that this message is the result of.
    pub tool_call_id: Option<Text>,
    /// The app's own data.
    pub meta: Option<Json>,
    /// Everything that the content held, when it was more than text; [`crate::content`] reads it.
    pub parts: Option<Json>,
    /// Which API the message came from, or another name that the app gave.
    pub provider: Option<Text>,
    /// On a tool message: whether the tool failed.
    pub is_error: bool,
    /// Members of the provider's own message that only this provider knows.
    pub extra: Option<Json>,
    /// Members of stored state that this version does not know.
    pub other: Members,
}

impl Details {
    /// Sets one of the members that a message has of its provider. Gives `value` back when it is none of them, or not
    /// of their type: state that another program wrote may call something else so.
    pub(crate) fn set_member(&mut self, name: &str, value: Json) -> Option<Json> {
        match name {
            "parts" => self.parts = Some(value),
            "providerMetadata" => self.extra = Some(value),
            "provider" => match serde_json::from_str(value.as_str()) {
                Ok(provider) => self.provider = Some(provider),
                Err(_) => return Some(value),
            },
            "isError" if value.as_str() == "true" => self.is_error = true,
            _ => return Some(value),
        }
        None
    }

    /// The members that [`Details::set_member`] sets, in the order in which they print.
    pub(crate) fn provider_members(&self) -> impl Iterator<Item = (&'static str, Cow<'_, Json>)> {
        let provider = self.provider.as_ref().and_then(|provider| Json::new(to_json(provider)));
        let is_error = self.is_error.then(|| Json::new("true".to_owned())).flatten();
        [
            self.parts.as_ref().map(|parts| ("parts", Cow::Borrowed(parts))),
            provider.map(|provider| ("provider", Cow::Owned(provider))),
            is_error.map(|is_error| ("isError", Cow::Owned(is_error))),
            self.extra.as_ref().map(|extra| ("providerMetadata", Cow::Borrowed(extra))),
        ]
        .into_iter()
        .flatten()
    }
}

/// A message as the app gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Text,
    /// When, in milliseconds since 1970.
    pub at: Option<Loose<Number>>,
    /// The rarer members. Boxed, so that a plain message stays small.
    pub details: Option<Box<Details>>,
}

/// A message in the window: numbered, dated and counted once.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMessage {
    /// The message; `at` is set.
    pub message: Message,
    /// Its number in the session, from 1, never used again.
    pub id: u64,
    /// Its tokens, the overhead per message included.
    pub tokens: f64,
}

/// A message in the archive: folded out of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchivedMessage {
    /// The message as it stood in the window.
    pub stored: Arc<StoredMessage>,
    /// Which fold of the session took it, from 1.
    pub compaction: u64,
    /// Its vector, when the app has an embedder.
    pub embedding: Option<Arc<Vector>>,
}

impl Message {
    /// A message with nothing but a role and a text.
    pub fn new(role: Role, content: impl Into<Text>) -> Self {
        Self { role, content: content.into(), at: None, details: None }
    }

    /// A message with the rarer members out of a JSON object: `at`, `name`, `toolCalls`, `toolCallId`, `meta`.
    ///
    /// # Errors
    ///
    /// When `json` is no object, or a member has the wrong shape.
    pub fn with_members(role: Role, content: Text, json: &str) -> serde_json::Result<Self> {
        let fields: Fields = serde_json::from_str(json)?;
        Fields { role: Some(role), content: Some(content), ..fields }.message()
    }

    /// The tool calls, whatever the role.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.details.as_ref().and_then(|details| details.tool_calls.as_ref()).map_or(&[], |calls| &calls.calls)
    }

    /// The tool calls of an assistant turn: the ones that results answer and that providers are sent.
    pub fn live_calls(&self) -> &[ToolCall] {
        if self.role == Role::Assistant { self.tool_calls() } else { &[] }
    }

    /// The id of the call that this tool message answers. `None` for every other role.
    pub fn answers(&self) -> Option<&Text> {
        if self.role != Role::Tool {
            return None;
        }
        self.details.as_ref().and_then(|details| details.tool_call_id.as_ref())
    }

    /// The speaker's name as the app gave it, when it gave one.
    pub fn name(&self) -> Option<TextSlice<'_>> {
        match self.details.as_ref()?.name.as_ref()? {
            Loose::Usual(name) => Some(name.as_slice()),
            Loose::Other(json) => (!json.is_null()).then(|| TextSlice::from(json.as_str())),
        }
    }

    /// Who speaks, for transcripts: the name, else the role. An empty name is a name.
    pub fn speaker(&self) -> TextSlice<'_> {
        self.name().unwrap_or_else(|| TextSlice::from(self.role.as_str()))
    }

    /// What counts, is summarised and is embedded: the content, then each tool call as `[call NAME(ARGUMENTS)]`.
    pub fn text(&self) -> Cow<'_, Text> {
        let calls = self.tool_calls();
        if calls.is_empty() {
            return Cow::Borrowed(&self.content);
        }
        let mut text = if self.content.as_slice().is_blank() { Text::new() } else { self.content.clone() };
        for call in calls {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str("[call ");
            text.push_slice(call.name.as_slice());
            text.push('(');
            text.push_slice(call.arguments.as_slice());
            text.push_str(")]");
        }
        Cow::Owned(text)
    }
}

impl ToolCall {
    /// Whether the tool takes free text instead of a JSON object.
    pub fn is_custom(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.custom)
    }
}

impl Arguments {
    /// The arguments as text: the string itself, or the object's JSON.
    pub fn as_slice(&self) -> TextSlice<'_> {
        match self {
            Self::Text(text) => text.as_slice(),
            Self::Object(json) => TextSlice::from(json.as_str()),
        }
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Text::deserialize(deserializer)?;
        name.as_str()
            .and_then(Self::from_name)
            .ok_or_else(|| de::Error::custom(format_args!("unknown message role {name}")))
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Loose::<Text>::deserialize(deserializer)? {
            Loose::Usual(text) => Self::Text(text),
            Loose::Other(json) => Self::Object(json),
        })
    }
}

impl<'de> Deserialize<'de> for ToolCalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Call {
            id: Text,
            name: Text,
            arguments: Arguments,
            custom: Option<Loose<bool>>,
            item_id: Option<Loose<Text>>,
            provider_metadata: Option<Json>,
        }

        impl From<Call> for ToolCall {
            fn from(call: Call) -> Self {
                let origin = CallOrigin {
                    custom: matches!(call.custom, Some(Loose::Usual(true))),
                    item_id: call.item_id.and_then(Loose::usual),
                    extra: call.provider_metadata,
                };
                let origin = (origin != CallOrigin::default()).then(|| Box::new(origin));
                Self { id: call.id, name: call.name, arguments: call.arguments, origin }
            }
        }

        let json = Json::deserialize(deserializer)?;
        let calls: Option<Vec<Call>> = serde_json::from_str(json.as_str())
            .map_err(|error| de::Error::custom(format_args!("`toolCalls`: {error}")))?;
        Ok(Self { calls: calls.into_iter().flatten().map(ToolCall::from).collect(), json })
    }
}

/// Every member that a message has in any of its shapes, as read from JSON.
#[derive(Debug, Default)]
pub struct Fields {
    role: Option<Role>,
    content: Option<Text>,
    id: Option<u64>,
    at: Option<Loose<Number>>,
    tokens: Option<f64>,
    compaction: Option<u64>,
    embedding: Option<Vector>,
    details: Details,
    any_details: bool,
}

impl Fields {
    fn message<E: de::Error>(self) -> Result<Message, E> {
        Ok(Message {
            role: self.role.ok_or_else(|| E::missing_field("role"))?,
            content: self.content.ok_or_else(|| E::missing_field("content"))?,
            at: self.at,
            details: self.any_details.then(|| Box::new(self.details)),
        })
    }

    fn stored<E: de::Error>(self) -> Result<StoredMessage, E> {
        let id = self.id.ok_or_else(|| E::missing_field("id"))?;
        let tokens = self.tokens.ok_or_else(|| E::missing_field("tokens"))?;
        Ok(StoredMessage { message: self.message()?, id, tokens })
    }

    fn archived<E: de::Error>(mut self) -> Result<ArchivedMessage, E> {
        let compaction = self.compaction.ok_or_else(|| E::missing_field("compaction"))?;
        let embedding = self.embedding.take().map(Arc::new);
        Ok(ArchivedMessage { stored: Arc::new(self.stored()?), compaction, embedding })
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some(key) = map.next_key::<Text>()? {
                    match key.as_str().unwrap_or_default() {
                        "role" => fields.role = Some(member(&mut map, "role")?),
                        "content" => fields.content = Some(member(&mut map, "content")?),
                        "id" => fields.id = Some(whole_number(member(&mut map, "id")?, "id")?),
                        "at" => fields.at = Some(map.next_value()?),
                        "tokens" => fields.tokens = Some(member::<A, Number>(&mut map, "tokens")?.0),
                        "compaction" => {
                            fields.compaction = Some(whole_number(member(&mut map, "compaction")?, "compaction")?);
                        }
                        "embedding" => fields.embedding = member(&mut map, "embedding")?,
                        known => {
                            fields.any_details = true;
                            match known {
                                "name" => fields.details.name = Some(map.next_value()?),
                                "toolCalls" => fields.details.tool_calls = Some(map.next_value()?),
                                "toolCallId" => fields.details.tool_call_id = member(&mut map, "toolCallId")?,
                                "meta" => fields.details.meta = Some(map.next_value()?),
                                _ => {
                                    if let Some(unknown) = fields.details.set_member(known, map.next_value()?) {
                                        keep_member(&mut fields.details.other, key, unknown)?;
                                    }
                                }
                            }
                        }
                    }
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Numbers that count are whole in every state this library wrote.
pub(crate) fn whole_number<E: de::Error>(number: Number, field: &str) -> Result<u64, E> {
    if number.is_safe_integer() && number.0 >= 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a safe integer that is not negative"
        )]
        return Ok(number.0 as u64);
    }
    Err(E::custom(format_args!("`{field}` must be a whole number, not {}", number.0)))
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer)?.message()
    }
}

impl<'de> Deserialize<'de> for StoredMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer)?.stored()
    }
}

impl<'de> Deserialize<'de> for ArchivedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer)?.archived()
    }
}

fn serialize_details<M: SerializeMap>(map: &mut M, message: &Message) -> Result<(), M::Error> {
    let Some(details) = &message.details else { return Ok(()) };
    if let Some(name) = &details.name {
        map.serialize_entry("name", name)?;
    }
    if let Some(calls) = &details.tool_calls {
        map.serialize_entry("toolCalls", &calls.json)?;
    }
    if let Some(id) = &details.tool_call_id {
        map.serialize_entry("toolCallId", id)?;
    }
    if let Some(meta) = &details.meta {
        map.serialize_entry("meta", meta)?;
    }
    details.provider_members().try_for_each(|(name, json)| map.serialize_entry(name, &*json))
}

fn serialize_other<M: SerializeMap>(map: &mut M, message: &Message) -> Result<(), M::Error> {
    let other = message.details.iter().flat_map(|details| &details.other);
    other.into_iter().try_for_each(|(key, value)| map.serialize_entry(key, value))
}

fn serialize_stored<M: SerializeMap>(map: &mut M, stored: &StoredMessage) -> Result<(), M::Error> {
    map.serialize_entry("role", &stored.message.role)?;
    map.serialize_entry("content", &stored.message.content)?;
    map.serialize_entry("id", &stored.id)?;
    map.serialize_entry("at", &stored.message.at)?;
    map.serialize_entry("tokens", &Number(stored.tokens))?;
    serialize_details(map, &stored.message)
}

/// The public shape: `role`, `content`, `at`, then what else the app gave.
impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(at) = &self.at {
            map.serialize_entry("at", at)?;
        }
        serialize_details(&mut map, self)?;
        map.end()
    }
}

/// `role`, `content`, `id`, `at`, `tokens`, then what else the app gave.
impl Serialize for StoredMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serialize_stored(&mut map, self)?;
        serialize_other(&mut map, &self.message)?;
        map.end()
    }
}

/// As in the window, then `compaction` and `embedding`.
impl Serialize for ArchivedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serialize_stored(&mut map, &self.stored)?;
        map.serialize_entry("compaction", &self.compaction)?;
        if let Some(embedding) = &self.embedding {
            map.serialize_entry("embedding", &**embedding)?;
        }
        serialize_other(&mut map, &self.stored.message)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_state_prints_as_it_was_read() {
        let json = concat!(
            r#"{"role":"assistant","content":"\ud800","id":3,"at":1.5,"tokens":12,"name":null,"#,
            r#""toolCalls":[{"id":"a","name":"f","arguments":{"b":1,"a":2},"extra":1}],"meta":{"k":1.0},"#,
            r#""compaction":2,"embedding":[0.1,0.25],"later":true}"#
        );
        let message: ArchivedMessage = serde_json::from_str(json).unwrap();
        assert_eq!(to_json(&message), json);
        assert_eq!(message.stored.message.speaker(), TextSlice::from("assistant"));
    }

    #[test]
    fn calls_follow_the_text() {
        let json = r#"{"role":"user","content":" x ","toolCalls":[{"id":"","name":"f","arguments":"{}"},{"id":"","name":"g","arguments":{"a":[1]}}]}"#;
        let message: Message = serde_json::from_str(json).unwrap();
        assert_eq!(*message.text(), r#" x  [call f({})] [call g({"a":[1]})]"#);
        assert!(message.live_calls().is_empty(), "only an assistant's calls are answered");
    }

    #[test]
    fn a_missing_member_is_named() {
        let error = serde_json::from_str::<StoredMessage>(r#"{"role":"user","content":"","id":1}"#).unwrap_err();
        assert!(error.to_string().contains("`tokens`"), "{error}");
        let error = serde_json::from_str::<StoredMessage>(r#"{"role":"user","content":"","id":1.5}"#).unwrap_err();
        assert!(error.to_string().contains("`id` must be a whole number"), "{error}");
    }
}
