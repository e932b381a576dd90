#pragma once
/// Fields of JSON objects in device and host files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/support/diagnostics.h"
#include "ir/support/json.h"
#include "ir/support/text.h"

namespace perfc {

/// Reads the fields of one JSON object: every wrong, missing or unknown one is
/// reported with its path.
class Fields {
 public:
  Fields(const json::Element& object, std::string path, Diagnostics& diags)
      : object_(object), path_(std::move(path)), diags_(diags) {
    if (!object_.is_object()) complain("", "must be an object");
  }

  void text(const char* key, std::string& out) {
    if (const auto v = find(key)) {
      if (const auto text = json::text(v)) out = *text;
      else complain(key, "must be a string");
    }
  }
  /// A finite number within [least, most].
  void number(const char* key, double& out, double least, double most) {
    if (const auto v = find(key)) {
      double x = 0;
      if (v->get(x) || !std::isfinite(x)) return complain(key, "must be a number");
      if (x < least || x > most) return complain(key, fmt::format("is {}, must lie in [{}, {}]", x, least, most));
      out = x;
    }
  }
  void integer(const char* key, int& out, int least, int most) {
    double x = out;
    number(key, x, least, most);
    if (x != std::floor(x)) return complain(key, "must be a whole number");
    out = static_cast<int>(x);
  }
  void flag(const char* key, bool& out) {
    if (const auto v = find(key); v && v->get(out)) complain(key, "must be true or false");
  }
  /// One of these words.
  template <class T, std::size_t n>
  void choice(const char* key, T& out, const std::pair<std::string_view, T> (&words)[n]) {
    std::string word;
    text(key, word);
    if (word.empty()) return;
    const auto* found = std::ranges::find(words, word, &std::pair<std::string_view, T>::first);
    if (found != std::end(words)) {
      out = found->second;
      return;
    }
    std::vector<std::string_view> known;
    for (const auto& [w, value] : words) known.push_back(w);
    complain(key, fmt::format("is \"{}\", must be one of {}", word, fmt::join(known, ", ")));
  }
  /// Whole numbers within [least, most], each once.
  void integers(const char* key, std::vector<int>& out, std::int64_t least, std::int64_t most) {
    if (const auto v = find(key)) {
      const auto all = json::array(v);
      if (!all) return complain(key, "must be a list of whole numbers");
      out.clear();
      for (const json::Element& e : *all) {
        const auto number = json::integer(e);
        if (!number || *number < least || *number > most)
          return complain(key, fmt::format("must be a list of whole numbers from {} to {}", least, most));
        if (std::find(out.begin(), out.end(), static_cast<int>(*number)) != out.end())
          return complain(key, fmt::format("has {} twice", *number));
        out.push_back(static_cast<int>(*number));
      }
    }
  }
  void texts(const char* key, std::vector<std::string>& out) {
    if (const auto v = find(key)) {
      const auto all = json::array(v);
      if (!all) return complain(key, "must be a list of strings");
      out.clear();
      for (const json::Element& e : *all) {
        const auto text = json::text(e);
        if (!text) return complain(key, "must be a list of strings");
        out.emplace_back(*text);
      }
    }
  }
  /// Name → positive number; names must be among `known`. Keys given replace
  /// those already in `out`.
  void rates(const char* key, std::map<std::string, double>& out, const std::set<std::string>& known, double most) {
    if (const auto v = find(key)) {
      json::Object all;
      if (v->get(all)) return complain(key, "must be an object of numbers");
      for (const auto& [field, value] : all) {
        const std::string name(field), at = fmt::format("{}.{}", key, name);
        double rate = 0;
        if (!known.count(name)) {
          const std::string near = did_you_mean(name, {known.begin(), known.end()});
          complain(
              at, fmt::format("is not a known name{}", near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
        } else if (value.get(rate) || !(rate > 0) || rate > most) {
          complain(at, fmt::format("must be a number in (0, {}]", most));
        } else {
          out[name] = rate;
        }
      }
    }
  }
  std::optional<json::Array> list(const char* key) {
    const auto v = find(key);
    auto all = json::array(v);
    if (v && !all) complain(key, "must be a list");
    return all;
  }
  std::optional<json::Element> member(const char* key) { return find(key); }
  void require(const char* key) {
    if (object_.is_object() && !json::member(object_, key)) complain(key, "is missing");
  }
  /// Call last: what nobody asked for is unknown.
  void finish() {
    json::Object all;
    if (object_.get(all)) return;
    for (const auto& [field, value] : all) {
      const std::string key(field);
      if (seen_.count(key)) continue;
      const std::string near = did_you_mean(key, {seen_.begin(), seen_.end()});
      complain(key, fmt::format("is not a field{}", near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
    }
  }

  void complain(std::string_view key, std::string message) {
    (void)diags_.error(fmt::format("{}{}{}: {}", path_, key.empty() || path_.empty() ? "" : ".", key, message));
  }
  std::string at(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

 private:
  std::optional<json::Element> find(const char* key) {
    seen_.insert(key);
    return json::member(object_, key);
  }
  json::Element object_;
  std::string path_;
  Diagnostics& diags_;
  std::set<std::string> seen_;
};

}  // namespace perfc
