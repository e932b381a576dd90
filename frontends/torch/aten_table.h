#pragma once
/// The operator table of the PyTorch front end: one row per overload.
///
/// An operator that is one of the IR's is spelled in that one's row (ir/op_table.h, `aten`); the others stand in
/// `aten_table.cpp`. The signature of the former says how the arguments map:
///   x         an operand; several come in the type that torch promotes them to
///   x?        an operand that may be None
///   x#        an operand of ints: a shape, axes
///   x=attr    the attribute `attr`
///   x=        the attribute of the same name
///   -x        changes neither shape nor work
/// Where it is more, the row names a function (`translate.h` lists them by file),
/// which reads the arguments by the names in the signature; `schema=name` is a
/// parameter that the function knows by another name than the schema.
///
/// Parameter names and order are those of the operator's schema
/// (aten/src/ATen/native/native_functions.yaml): positions serve TorchScript,
/// names serve .pt2. In-place forms (`relu_`) share the row of the plain form.
#include "frontends/torch/call.h"

namespace perfc::torch {

using Translator = Values (*)(Call&);

struct AtenRow {
  std::string_view name;  ///< "conv2d": aten's; others with their namespace: "torchvision::nms"
  std::string_view signature;
  OpId op{};  ///< rows without a function
  Translator translate = nullptr;
  std::string_view becomes = {};  ///< IR operators, for `perfc ops`

  constexpr AtenRow(std::string_view n, std::string_view s, OpId o) : name(n), signature(s), op(o) {}
  constexpr AtenRow(std::string_view n, std::string_view s, Translator t, std::string_view b)
      : name(n), signature(s), translate(t), becomes(b) {}
};
std::span<const AtenRow> aten_table();

/// A parameter in a row's signature.
struct Slot {
  enum class Kind : std::uint8_t { Operand, Optional, Ints, Attribute, Ignored };
  std::string_view name;
  Kind kind = Kind::Operand;
  std::string_view attribute;
};
const std::vector<Slot>& slots(const AtenRow&);

/// The row for a call with these arguments, or null. `args` come back in the
/// row's order, with nothing for those left out.
const AtenRow* find_row(std::string_view name, const std::vector<Arg>& written, std::vector<Value>& args);
/// Is there a row of this name at all?
bool has_row(std::string_view name);
/// Rows of this name, as text, for messages.
std::string signatures(std::string_view name);

/// The mapping that a row without a function describes.
Values map_row(Call& c);

}  // namespace perfc::torch
