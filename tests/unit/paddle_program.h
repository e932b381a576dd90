#pragma once
/// Paddle programs for tests: ProgramDesc messages and PIR's JSON, written by hand.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace perfc::testing::paddle {

using Dims = std::vector<int>;
using AttrValue = std::variant<bool, int, double, std::string, Dims, std::vector<double>>;
using Attributes = std::vector<std::pair<std::string, AttrValue>>;
using Slots = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Numbers of framework.proto's VarType.Type, and PIR's names for them.
enum Element : int { kBool = 0, kInt32 = 2, kInt64 = 3, kFloat32 = 5 };

// ---- ProgramDesc: field numbers of paddle/fluid/framework/framework.proto

inline std::string varint(std::uint64_t v) {
  std::string out;
  for (; v > 0x7f; v >>= 7) out += static_cast<char>(v | 0x80);
  return out + static_cast<char>(v);
}
inline std::string number(int field, std::int64_t v) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(v));
}
inline std::string message(int field, const std::string& payload) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(payload.size()) + payload;
}
inline std::string fixed32(int field, double v) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v));
  std::string out = varint(static_cast<std::uint64_t>(field) << 3 | 5);
  for (int i = 0; i < 4; ++i) out += static_cast<char>(bits >> (8 * i));
  return out;
}

enum class Keeps { Value, Weight };
/// A variable with its type.
inline std::string variable(const std::string& name, Element element, const Dims& dims, Keeps keeps = Keeps::Value) {
  std::string tensor = number(1, element);
  for (int d : dims) tensor += number(2, d);
  return message(3, message(1, name) + message(2, number(1, 7) + message(3, message(1, tensor))) +
                        (keeps == Keeps::Weight ? number(3, 1) : ""));
}
inline std::string weight(const std::string& name, const Dims& dims) {
  return variable(name, kFloat32, dims, Keeps::Weight);
}

inline std::string slots(int field, const Slots& all) {
  std::string out;
  for (const auto& [name, values] : all) {
    std::string slot = message(1, name);
    for (const std::string& v : values) slot += message(2, v);
    out += message(field, slot);
  }
  return out;
}

inline std::string attribute(const std::string& name, const AttrValue& value) {
  std::string out = message(1, name);
  if (const auto* b = std::get_if<bool>(&value)) out += number(2, 6) + number(10, *b);
  if (const auto* i = std::get_if<int>(&value)) out += number(2, 0) + number(3, *i);
  if (const auto* d = std::get_if<double>(&value)) out += number(2, 1) + fixed32(4, *d);
  if (const auto* s = std::get_if<std::string>(&value)) out += number(2, 2) + message(5, *s);
  if (const auto* list = std::get_if<Dims>(&value)) {
    out += number(2, 3);
    for (int i : *list) out += number(6, i);
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    out += number(2, 4);
    for (double d : *reals) out += fixed32(7, d);
  }
  return message(4, out);
}

inline constexpr int kNoBlock = -1;
inline std::string operation(const std::string& type, const Slots& inputs, const Slots& outputs,
                             const Attributes& attrs = {}, int block = kNoBlock) {
  std::string out = slots(1, inputs) + slots(2, outputs) + message(3, type);
  for (const auto& [name, value] : attrs) out += attribute(name, value);
  if (block != kNoBlock) out += message(4, message(1, "sub_block") + number(2, 8) + number(12, block));
  return message(4, out);
}
inline std::string feed(const std::string& name, int column = 0) {
  return operation("feed", {{"X", {"feed"}}}, {{"Out", {name}}}, {{"col", column}});
}
inline std::string fetch(const std::string& name, int column = 0) {
  return operation("fetch", {{"X", {name}}}, {{"Out", {"fetch"}}}, {{"col", column}});
}
/// A block of variables and operations.
inline std::string block(int index, int parent, const std::string& content) {
  return message(1, number(1, index) + number(2, parent) + content);
}

// ---- PIR

inline std::string pir_type(const std::string& element, const Dims& dims) {
  return fmt::format(R"({{"#":"0.t_dtensor","D":[{{"#":"0.{}"}},[{}],"NCHW",[],0]}})", element, fmt::join(dims, ","));
}
inline std::string pir_result(int number, const std::string& type) {
  return fmt::format(R"({{"%":{},"TT":{}}})", number, type);
}

inline std::string pir_attribute(const std::string& name, const AttrValue& value) {
  std::string what = "0.a_str", data;
  if (const auto* b = std::get_if<bool>(&value)) what = "0.a_bool", data = *b ? "true" : "false";
  if (const auto* i = std::get_if<int>(&value)) what = "0.a_i32", data = std::to_string(*i);
  if (const auto* d = std::get_if<double>(&value)) what = "0.a_f32", data = fmt::format("{:.6f}", *d);
  if (const auto* s = std::get_if<std::string>(&value)) data = fmt::format("\"{}\"", *s);
  if (const auto* list = std::get_if<Dims>(&value)) {
    what = "0.a_array";
    for (int i : *list) data += fmt::format(R"({}{{"#":"0.a_i32","D":{}}})", data.empty() ? "" : ",", i);
    data = "[" + data + "]";
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    what = "0.a_array";
    for (double d : *reals) data += fmt::format(R"({}{{"#":"0.a_f32","D":{:.6f}}})", data.empty() ? "" : ",", d);
    data = "[" + data + "]";
  }
  return fmt::format(R"({{"N":"{}","AT":{{"#":"{}","D":{}}}}})", name, what, data);
}

/// `results` are written with `pir_result`.
inline std::string pir_operation(const std::string& type, const std::vector<int>& operands,
                                 const std::vector<std::string>& results, const Attributes& attrs = {},
                                 const std::string& regions = "") {
  std::vector<std::string> in, attributes;
  for (int o : operands) in.push_back(fmt::format(R"({{"%":{}}})", o));
  for (const auto& [name, value] : attrs) attributes.push_back(pir_attribute(name, value));
  return fmt::format(R"({{"#":"{}","A":[{}],"I":[{}],"O":[{}]{}}})", type, fmt::join(attributes, ","),
                     fmt::join(in, ","), fmt::join(results, ","),
                     regions.empty() ? "" : R"(,"regions":[)" + regions + "]");
}
inline std::string pir_weight(int number, const Dims& dims) {
  return fmt::format(R"({{"#":"p","A":[0,1,1,"w{}"],"O":{}}})", number, pir_result(number, pir_type("t_f32", dims)));
}
inline std::string pir_input(int number, const std::string& name, const std::string& type) {
  return pir_operation("1.data", {}, {pir_result(number, type)}, {{"name", name}});
}
inline std::string pir_output(int value) {
  return pir_operation("1.fetch", {value}, {pir_result(9000 + value, pir_type("t_f32", {}))},
                       {{"name", "out"}, {"col", 0}});
}
inline std::string pir_region(const std::vector<std::string>& args, const std::vector<std::string>& operations) {
  return fmt::format(R"({{"blocks":[{{"args":[{}],"ops":[{}]}}]}})", fmt::join(args, ","), fmt::join(operations, ","));
}
inline std::string pir_program(const std::vector<std::string>& operations) {
  return fmt::format(R"({{"base_code":{{"magic":"pir","version":4}},"program":{{"regions":[{}]}}}})",
                     pir_region({}, operations));
}

}  // namespace perfc::testing::paddle
