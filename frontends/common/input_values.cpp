#include "frontends/common/input_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

namespace perfc {
namespace {

template <class T>
std::optional<T> word_as(const std::string& word) {
  T v{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), v);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return v;
}

std::optional<std::int64_t> truth_of(const std::string& word) {
  if (word == "true" || word == "1") return 1;
  if (word == "false" || word == "0") return 0;
  return std::nullopt;
}

/// Whether an integer type holds `v`.
bool fits_into(DType dtype, std::int64_t v) {
  const bool is_unsigned = name(dtype).starts_with("uint");
  if (is_unsigned && v < 0) return false;
  const std::string_view text = name(dtype);
  const auto bits = word_as<int>(std::string(text.substr(is_unsigned ? 4 : 3)));
  if (!bits || *bits >= 64) return true;
  const std::int64_t above = std::int64_t{1} << (is_unsigned ? *bits : *bits - 1);
  return v < above && (is_unsigned || v >= -above);
}

template <class T>
DataRef filled_to(std::vector<T> values, std::int64_t elements) {
  if (values.size() == 1) values.resize(static_cast<std::size_t>(elements), values.front());
  auto data = std::make_shared<Data>();
  data->elements = std::move(values);
  return data;
}

}  // namespace

DType dtype_of_words(const std::vector<std::string>& words) {
  const auto all = [&](auto test) { return std::ranges::all_of(words, test); };
  if (all([](const std::string& w) { return w == "true" || w == "false"; })) return DType::Bool;
  return all([](const std::string& w) { return word_as<std::int64_t>(w).has_value(); }) ? DType::Int64 : DType::Float32;
}

Result<DataRef> contents(const ModelInput& input, const std::vector<std::string>& words, Diagnostics& diags) {
  const Type& type = input.type;
  const auto fail = [&](const std::string& why) { return diags.error(input.loc, input.name, "--value: " + why); };
  const auto elements = type.elements();
  if (!type.is_static() || !elements) {
    return fail(fmt::format("the input's dims are open, {}; bind them with --shape {}=… or --dim", to_string(type),
                            input.name));
  }
  const auto count = static_cast<std::int64_t>(words.size());
  if (count != 1 && count != *elements) {
    return fail(fmt::format("{} values are given, the input has {}: {}; give as many, or one that fills it", count,
                            *elements, to_string(type)));
  }
  if (*elements > Data::kMaxElements) {
    return fail(
        fmt::format("the input has {} elements; contents are followed up to {}", *elements, Data::kMaxElements));
  }
  const DType dtype = type.dtype();
  std::vector<SymInt> ints;
  std::vector<double> floats;
  for (const std::string& word : words) {
    const auto wrong = [&](std::string_view wanted) {
      return fail(fmt::format("'{}' is no {}, which the input holds: {}", word, wanted, to_string(type)));
    };
    if (dtype == DType::Bool) {
      const auto v = truth_of(word);
      if (!v) return wrong("true or false");
      ints.emplace_back(*v);
    } else if (is_integer(dtype)) {
      const auto v = word_as<std::int64_t>(word);
      if (!v) return wrong("whole number");
      if (!fits_into(dtype, *v)) return fail(fmt::format("{} does not hold {}", to_string(type), word));
      ints.emplace_back(*v);
    } else if (is_float(dtype)) {
      const auto v = word_as<double>(word);
      if (!v) return wrong("number");
      floats.push_back(*v);
    }
  }
  if (dtype == DType::String) return filled_to(words, *elements);
  if (!is_float(dtype) && !is_integer(dtype) && dtype != DType::Bool)
    return fail(fmt::format("contents of {} are not followed", to_string(type)));
  return is_float(dtype) ? filled_to(std::move(floats), *elements) : filled_to(std::move(ints), *elements);
}

}  // namespace perfc
