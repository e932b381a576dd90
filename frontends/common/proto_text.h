#pragma once
/// Protobuf text format → wire format, for any set of messages: a front end
/// states the fields that it reads, and one wire reader serves both encodings.
/// Grammar: https://protobuf.dev/reference/protobuf/textformat-spec/
///
/// Accepted beyond what protobuf prints: `{}` and `<>`, `,` and `;` between
/// fields, a colon before a message or none, lists as repeated fields or in
/// brackets, adjacent strings, comments, enumerators by name or number,
/// extensions (skipped). Errors are located by line and column.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/support/diagnostics.h"

namespace perfc::proto_text {

enum class Kind : std::uint8_t {
  Int,  ///< any integer or bool: a varint, two's complement
  Float,
  Double,
  Bytes,    ///< string or bytes
  Payload,  ///< bytes of a weight: left out when longer than any contents that are kept
  Enum,
  Message,
};

struct Enumerator {
  std::string_view name;
  std::int64_t number;
};

struct Message;

struct Field {
  std::string_view name;
  std::uint32_t number = 0;
  Kind kind = Kind::Int;
  const Message* message = nullptr;  ///< Kind::Message; null: contents are skipped
  std::span<const Enumerator> enumerators = {};
};

struct Message {
  std::span<const Field> fields;
  /// Messages of this type begin with the private field `kPlaceField`.
  bool located = false;
};

/// Private field that located messages begin with: line << 20 | column, both
/// from 1 and of the message's opening bracket.
inline constexpr std::uint32_t kPlaceField = 0x1ffffffe;
SourceLoc place_from_field(std::uint64_t value);

/// Payloads whose text is longer than this hold more elements than contents may
/// have (`Data::kMaxElements` of 16 bytes, each byte an octal escape).
inline constexpr std::size_t kMaxPayloadText = 4096 * 16 * 4;

enum class UnknownFields { Skip, Warn };

/// Transcodes one message of type `root`. Memory: the wire form of the fields
/// that `root` reaches, which is shorter than the text.
Result<std::string> to_wire(std::string_view text, const Message& root, UnknownFields, Diagnostics&);

}  // namespace perfc::proto_text
