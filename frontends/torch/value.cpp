#include "frontends/torch/value.h"

namespace perfc::torch {

std::optional<double> Scalar::number() const {
  if (is_float()) return real;
  if (integer.known()) return static_cast<double>(integer.value());
  return std::nullopt;
}

Value Value::list(std::vector<Value> items, List::Kind kind) {
  return List{kind, std::make_shared<std::vector<Value>>(std::move(items))};
}

namespace {

constexpr int kMaxNesting = 64;
constexpr std::size_t kMaxItems = 200'000;

bool walk(const Value& v, int depth, std::size_t& budget) {
  if (budget == 0 || depth > kMaxNesting) return false;
  --budget;
  if (const List* l = v.list()) {
    for (const Value& item : *l->items) {
      if (!walk(item, depth + 1, budget)) return false;
    }
  }
  if (const Dict* d = v.dict()) {
    for (const auto& [key, item] : *d->items) {
      if (!walk(key, depth + 1, budget) || !walk(item, depth + 1, budget)) return false;
    }
  }
  return true;
}

}  // namespace

bool is_bounded(const Value& v) {
  std::size_t budget = kMaxItems;
  return walk(v, 0, budget);
}

std::string_view Value::kind() const {
  if (!given()) return "nothing";
  if (is_none()) return "None";
  if (tensor()) return "a tensor";
  if (const Scalar* s = scalar()) return s->is_float() ? "a float" : s->dtype == DType::Bool ? "a bool" : "an int";
  if (string()) return "a string";
  if (const List* l = list()) return l->kind == List::Kind::Tuple ? "a tuple" : "a list";
  if (dict()) return "a dict";
  return "an object";
}

}  // namespace perfc::torch
