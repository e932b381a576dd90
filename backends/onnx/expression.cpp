/// Calls that are their ONNX operator, and those that an expression of such operators computes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "backends/onnx/rows.h"
#include "ir/eager_marks.h"
#include "ir/support/text.h"
#include "ir/tables.h"

namespace perfc::backends {
namespace {

/// What else the IR says of a call that computes nothing else for it.
constexpr std::string_view kSaysNothing[] = {kTable, "explicit", "scaled", "consumed_inputs", "is_test", "captures"};
/// Attributes of operator sets that files no longer follow, and what they mean by default.
constexpr std::pair<std::string_view, std::int64_t> kLegacy[] = {{"broadcast", 1}, {"spatial", 1}, {"training", 0}};

bool says_nothing(std::string_view name, const Attr& value) {
  const auto has = [&](const auto& names) { return std::ranges::find(names, name) != std::end(names); };
  if (has(kExecutionMarks) || has(kSaysNothing)) return true;
  const auto* number = std::get_if<std::int64_t>(&value);
  return number && std::any_of(std::begin(kLegacy), std::end(kLegacy),
                               [&](const auto& legacy) { return legacy.first == name && legacy.second == *number; });
}

bool is_listed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    if (next_word(list) == name) return true;
  }
  return false;
}

/// Integers that writers gave where ONNX has a real number.
bool is_real(std::string_view name) {
  static constexpr std::string_view kReals[] = {
      "alpha",        "beta",  "bias",    "clip",          "epsilon",
      "gamma",        "lambd", "low",     "high",          "mean",
      "momentum",     "scale", "softcap", "spatial_scale", "extrapolation_value",
      "cubic_coeff_a"};
  return std::find(std::begin(kReals), std::end(kReals), name) != std::end(kReals);
}

/// As ONNX has it: an element type by its number, a real number as one.
Attr onnx_value(std::string_view name, const Attr& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole && is_real(name)) {
    return Attr(static_cast<double>(*whole));
  }
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  if (list && list->size() == 1 && name.starts_with("detect_")) return Attr(list->front());
  static constexpr std::string_view kNames[] = {
      "to", "dtype", "output_dtype", "output_datatype", "stash_type", "softmax_precision"};
  const auto* text = std::get_if<std::string>(&value);
  if (!text || std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) return value;
  const auto dtype = dtype_from_name(*text);
  return dtype ? Attr(std::int64_t{onnx::onnx_number(*dtype)}) : value;
}

/// Reads an expression of a row, which is right by a test of all rows, and writes its nodes.
class Expression {
 public:
  Expression(CallWriter& call, std::string_view text) : c_(call), rest_(text) {
    for (std::size_t i = 0; i < c_.operands.size() && number_type_ == DType::Undefined; ++i) {
      if (c_.type(i).is_tensor() && c_.type(i).dtype() != DType::Bool) number_type_ = c_.type(i).dtype();
    }
  }

  Status run() {
    const std::string value = term(/*whole=*/true);
    return value.empty() ? ok() : c_.finish_as(value);
  }

 private:
  /// The name of its value; empty where `whole` and the call's results are written.
  std::string term(bool whole) {
    skip();
    if (rest_[0] == '$') return parameter();
    if (rest_[0] == '-' || (rest_[0] >= '0' && rest_[0] <= '9')) return c_.number(real(), number_type_);
    const std::string_view name = word();
    skip();
    if (rest_.empty() || (rest_[0] != '(' && rest_[0] != '[')) {
      const auto i = static_cast<std::size_t>(name[0] - 'a');
      return i < c_.operands.size() ? c_.operands[i] : std::string();
    }
    const Attrs attributes = rest_[0] == '[' ? given() : Attrs();
    std::vector<std::string> inputs;
    for (char end = '('; end != ')';) {
      rest_.remove_prefix(1);
      inputs.push_back(term(false));
      skip();
      end = rest_[0];
    }
    rest_.remove_prefix(1);
    if (!whole) return c_.value(name, std::move(inputs), attributes);
    (void)c_.finish(name, std::move(inputs), attributes);
    return {};
  }

  /// $alpha=0.01
  std::string parameter() {
    rest_.remove_prefix(1);
    const std::string_view name = word();
    rest_.remove_prefix(1);
    const double fallback = real();
    const double whole = static_cast<double>(c_.attrs.int_or(name, 0));
    const Attr* value = c_.attrs.find(name);
    return c_.number(value && std::holds_alternative<std::int64_t>(*value) ? whole : c_.attrs.float_or(name, fallback),
                     number_type_);
  }

  /// [axis=-1 to=bool]
  Attrs given() {
    Attrs out;
    while (rest_[0] != ']') {
      rest_.remove_prefix(1);
      const std::string_view name = word();
      rest_.remove_prefix(1);
      if (rest_[0] == '-' || (rest_[0] >= '0' && rest_[0] <= '9')) {
        out.set(name, static_cast<std::int64_t>(real()));
        continue;
      }
      const std::string_view value = word();
      const DType dtype = value == "result"  ? c_.result().dtype()
                          : value == "first" ? number_type_
                                             : dtype_from_name(value).value_or(DType::Undefined);
      out.set(name, name == "to" ? Attr(std::int64_t{onnx::onnx_number(dtype)}) : Attr(std::string(value)));
    }
    rest_.remove_prefix(1);
    skip();
    return out;
  }

  std::string_view word() {
    std::size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_' || rest_[n] == ':'))
      ++n;
    const std::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }

  double real() {
    double out = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return out;
  }

  void skip() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }

  CallWriter& c_;
  std::string_view rest_;
  DType number_type_ = DType::Undefined;
};

}  // namespace

std::string_view onnx_attribute_name(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"padding", "pads"}, {"dilation", "dilations"}, {"groups", "group"}, {"kernel_size", "kernel_shape"}};
  for (const auto& [from, to] : kRenamed) {
    if (name == from) return to;
  }
  return name;
}

Result<Attrs> onnx_attributes(const CallWriter& c, std::string_view allowed) {
  Attrs out;
  for (const auto& [name, value] : c.attrs) {
    if (is_listed(allowed, name)) {
      out.set(onnx_attribute_name(name), onnx_value(name, value));
    } else if (const auto* real = std::get_if<std::string>(&value); real && name == kStandsFor) {
      return c.error(fmt::format("stands for '{}', which has no form in ONNX", *real));
    } else if (!says_nothing(name, value)) {
      return c.error(fmt::format("attribute '{}' has no form in ONNX", name));
    }
  }
  return out;
}

Status write_same(CallWriter& c, std::string_view spelling, std::string_view attributes, std::int64_t since) {
  if (spelling.empty()) {
    std::string_view all = def(c.node.op).onnx;
    spelling = next_word(all);
  }
  auto attrs = onnx_attributes(c, attributes);
  if (!attrs) return Failure{};
  if (since > 0) c.model().needs(domain_and_name(spelling).first, since);
  return c.finish(spelling, c.operands, *attrs);
}

Status write_expression(CallWriter& c, std::string_view expression) { return Expression(c, expression).run(); }

}  // namespace perfc::backends
