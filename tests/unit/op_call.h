#pragma once
/// One operator call under test: operands, attributes, and what came out.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/infer_context.h"

namespace perfc::testing {

/// An operand: a typed value, perhaps with contents, perhaps omitted.
struct Arg {
  Type type;
  DataRef data{};
};

inline const SymInt N = SymInt::symbol("N");
inline const SymInt unknown = SymInt::unknown();

inline Arg tensor(Shape shape, DType dtype = DType::Float32) { return {Type::tensor(dtype, std::move(shape))}; }
inline Arg unranked(DType dtype = DType::Float32) { return {Type::unranked(dtype)}; }
inline Arg omitted() { return {}; }

/// Integers with contents: a vector, or what `shape` says.
inline Arg ints(std::vector<SymInt> values, DType dtype = DType::Int64) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {Type::tensor(dtype, {n}), std::make_shared<Data>(Data{std::move(values)})};
}
inline Arg ints(std::vector<SymInt> values, Shape shape, DType dtype = DType::Int64) {
  return {Type::tensor(dtype, std::move(shape)), std::make_shared<Data>(Data{std::move(values)})};
}
inline Arg scalar(SymInt value, DType dtype = DType::Int64) { return ints({value}, Shape{}, dtype); }
inline Arg floats(std::vector<double> values, DType dtype = DType::Float32) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {Type::tensor(dtype, {n}), std::make_shared<Data>(Data{std::move(values)})};
}

/// What a call gives: types, contents and cost, or the first error.
struct Outcome {
  std::vector<std::string> types;
  std::vector<std::string> data;  ///< "[1, N, ?]", "[0.5]", or "-"
  OpCost cost;
  std::string error;
};

inline std::string show(const Data* d) {
  if (!d) return "-";
  std::string out = "[";
  const auto add = [&](const std::string& s) { out += (out.size() > 1 ? ", " : "") + s; };
  if (const auto* v = d->ints())
    for (const SymInt& s : *v) add(to_string(s));
  if (const auto* v = d->floats())
    for (double x : *v) add(fmt::format("{}", x));
  if (const auto* v = d->strings())
    for (const std::string& s : *v) add(s);
  return out + "]";
}

inline Outcome call(OpId op, std::vector<Arg> args, Attrs attrs = {}, int results = -1,
                    std::vector<GraphRef> regions = {}, std::vector<Type> declared = {}) {
  Diagnostics diags("t");
  GraphBuilder builder(diags);
  CallSpec spec{op};
  for (Arg& a : args) {
    if (!a.type) spec.operands.push_back({});
    else if (a.data) spec.operands.push_back(builder.constant({a.type, a.data}));
    else spec.operands.push_back(builder.var(a.type, "x"));
  }
  spec.attrs = std::move(attrs);
  spec.results = results;
  spec.regions = std::move(regions);
  spec.declared = std::move(declared);
  Outcome out;
  const auto id = builder.call(std::move(spec));
  if (!id) {
    out.error = diags.all().empty() ? "no message" : diags.all().front().message;
    return out;
  }
  for (const ResultInfo& r : builder.node(*id).results) {
    out.types.push_back(to_string(r.type));
    out.data.push_back(show(r.data.get()));
  }
  out.cost = op_cost(builder.finish("g", {{*id, 0}}, {"y"}), *id);
  return out;
}

/// Type of the first result, or the error.
inline std::string type_of(OpId op, std::vector<Arg> args, Attrs attrs = {}) {
  const Outcome o = call(op, std::move(args), std::move(attrs));
  return o.error.empty() ? o.types.at(0) : o.error;
}
/// Contents of the first result, or the error.
inline std::string data_of(OpId op, std::vector<Arg> args, Attrs attrs = {}) {
  const Outcome o = call(op, std::move(args), std::move(attrs));
  return o.error.empty() ? o.data.at(0) : o.error;
}

using Ints = std::vector<std::int64_t>;

}  // namespace perfc::testing
