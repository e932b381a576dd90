#include "ir/attrs.h"

#include <algorithm>
#include <bit>

namespace perfc {
namespace {

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same_bits(x, y); });
}

}  // namespace

std::size_t Data::size() const {
  return std::visit([](const auto& v) { return v.size(); }, elements);
}

bool Data::fully_known() const {
  const auto* v = ints();
  return !v || std::all_of(v->begin(), v->end(), [](const SymInt& s) { return s.known(); });
}

std::optional<std::vector<std::int64_t>> Data::known_ints() const {
  const auto* v = ints();
  if (!v || !fully_known()) return std::nullopt;
  std::vector<std::int64_t> out;
  out.reserve(v->size());
  for (const SymInt& s : *v) out.push_back(s.value());
  return out;
}

bool operator==(const Data& a, const Data& b) {
  if (a.floats() && b.floats()) return same_bits(*a.floats(), *b.floats());
  return a.elements == b.elements;
}

bool operator==(const Literal& a, const Literal& b) {
  if (!(a.type == b.type)) return false;
  if (!a.data || !b.data) return !a.data && !b.data;
  return *a.data == *b.data;
}

Literal int64_vector(const std::vector<std::int64_t>& values) {
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>(values.begin(), values.end());
  return {Type::tensor(DType::Int64, {static_cast<std::int64_t>(values.size())}), data};
}

Literal int64_scalar(std::int64_t value) {
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{value};
  return {Type::tensor(DType::Int64, {}), data};
}

Literal float_scalar(double value, DType dtype) {
  auto data = std::make_shared<Data>();
  data->elements = std::vector<double>{value};
  return {Type::tensor(dtype, {}), data};
}

bool attr_equal(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (const auto* d = std::get_if<double>(&a)) return same_bits(*d, std::get<double>(b));
  if (const auto* v = std::get_if<std::vector<double>>(&a)) { return same_bits(*v, std::get<std::vector<double>>(b)); }
  return a == b;
}

Attrs::Attrs(std::initializer_list<Entry> entries) {
  for (const Entry& e : entries) set(e.first, e.second);
}

const std::vector<Attrs::Entry>& Attrs::entries() const {
  static const std::vector<Entry> none;
  return entries_ ? *entries_ : none;
}

std::vector<Attrs::Entry>& Attrs::own() {
  if (!entries_) {
    entries_ = std::make_shared<std::vector<Entry>>();
  } else if (entries_.use_count() > 1) {
    entries_ = std::make_shared<std::vector<Entry>>(*entries_);
  }
  return *entries_;
}

void Attrs::set(std::string_view name, Attr value) {
  std::vector<Entry>& entries = own();
  auto it = std::lower_bound(entries.begin(), entries.end(), name,
                             [](const Entry& e, std::string_view n) { return e.first < n; });
  if (it != entries.end() && it->first == name) {
    it->second = std::move(value);
  } else {
    entries.emplace(it, std::string(name), std::move(value));
  }
}

void Attrs::erase(std::string_view name) {
  if (!has(name)) return;
  std::erase_if(own(), [&](const Entry& e) { return e.first == name; });
}

const Attr* Attrs::find(std::string_view name) const {
  for (const Entry& e : entries()) {
    if (e.first == name) return &e.second;
  }
  return nullptr;
}

std::int64_t Attrs::int_or(std::string_view name, std::int64_t fallback) const {
  const Attr* a = find(name);
  const auto* v = a ? std::get_if<std::int64_t>(a) : nullptr;
  return v ? *v : fallback;
}

double Attrs::float_or(std::string_view name, double fallback) const {
  const Attr* a = find(name);
  if (!a) return fallback;
  if (const auto* v = std::get_if<double>(a)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(a)) return static_cast<double>(*v);
  return fallback;
}

std::string_view Attrs::string_or(std::string_view name, std::string_view fallback) const {
  const Attr* a = find(name);
  const auto* v = a ? std::get_if<std::string>(a) : nullptr;
  return v ? std::string_view(*v) : fallback;
}

std::vector<std::int64_t> Attrs::ints_or_empty(std::string_view name) const {
  const Attr* a = find(name);
  if (!a) return {};
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(a)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(a)) return {*v};
  return {};
}

DType Attrs::dtype_or(std::string_view name, DType fallback) const {
  return dtype_from_name(string_or(name, "")).value_or(fallback);
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.entries_ == b.entries_) return true;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && attr_equal(x.second, y.second); });
}

}  // namespace perfc
