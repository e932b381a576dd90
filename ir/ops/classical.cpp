/// Rules for text, ai.onnx.ml, training, opaque.
#include <algorithm>

#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Entries of a list attribute of any kind; 0 when absent.
std::size_t length_of(const Attrs& attrs, std::string_view name) {
  const Attr* a = attrs.find(name);
  if (!a) return 0;
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(a)) return v->size();
  if (const auto* v = std::get_if<std::vector<double>>(a)) return v->size();
  if (const auto* v = std::get_if<std::vector<std::string>>(a)) return v->size();
  if (const auto* v = std::get_if<Literal>(a)) { return static_cast<std::size_t>(v->type.elements().value_or(0)); }
  return 0;
}

/// Rows of an [N, C] or [C] feature matrix: one row when rank 1.
Dim rows(const InferContext& c) {
  if (!ranked(c, 0)) return Dim::unknown();
  const Shape& s = c.type(0).shape();
  return s.size() <= 1 ? Dim(1) : s[0];
}

Dim known_or_unknown(std::size_t n) { return n > 0 ? Dim(static_cast<std::int64_t>(n)) : Dim::unknown(); }

/// Class labels: strings or int64, and how many.
struct Labels {
  DType dtype = DType::Int64;
  std::size_t count = 0;
};
Labels class_labels(const Attrs& attrs) {
  if (const std::size_t n = length_of(attrs, "classlabels_strings")) return {DType::String, n};
  const std::size_t n = length_of(attrs, "classlabels_int64s");
  return {DType::Int64, n ? n : length_of(attrs, "classlabels_ints")};
}

}  // namespace

// ---- Text

Status string_split(InferContext& c) {
  if (!require_dtype(c, 0, "X", is_string, "string")) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(DType::String));
    c.set(1, Type::unranked(DType::Int64));
    return ok();
  }
  Shape shape = c.type(0).shape();
  if (c.results() > 1) c.set(1, Type::tensor(DType::Int64, shape));
  shape.push_back(Dim::unknown());  // the longest split
  c.set(0, Type::tensor(DType::String, std::move(shape)));
  return ok();
}

Status string_normalize(InferContext& c) {
  if (!require_dtype(c, 0, "X", is_string, "string") || !require_rank(c, 0, "X", 1, 2)) return Failure{};
  if (ranked(c, 0) && c.type(0).rank() == 2 && c.type(0).shape()[0].known() && !c.type(0).shape()[0].is(1)) {
    return c.error("X must be [C] or [1, C], is {}", to_string(c.type(0)));
  }
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(DType::String));
    return ok();
  }
  Shape shape = c.type(0).shape();
  // Stop words are removed, so their number decides.
  if (length_of(c.attrs, "stopwords") > 0) shape.back() = Dim::unknown();
  c.set(0, Type::tensor(DType::String, std::move(shape)));
  return ok();
}

Status tfidf(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, 2)) return Failure{};
  const auto indexes = c.attrs.ints_or_empty("ngram_indexes");
  if (indexes.empty()) return c.error("has no attribute 'ngram_indexes'");
  const std::int64_t most = *std::max_element(indexes.begin(), indexes.end());
  if (most < 0 || most == INT64_MAX) return c.error("ngram_indexes holds {}", most);
  Shape shape;
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(DType::Float32));
    return ok();
  }
  if (c.type(0).rank() == 2) shape.push_back(c.type(0).shape()[0]);
  shape.emplace_back(most + 1);
  c.set(0, Type::tensor(DType::Float32, std::move(shape)));
  return ok();
}

// ---- ai.onnx.ml

Status ml_array_feature_extractor(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, kAnyRank) || !require_tensor(c, 1, "Y")) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto picked = ranked(c, 1) ? element_count(c.type(1).shape()) : std::nullopt;
  const Dim last = picked ? Dim(*picked) : Dim::unknown();
  shape = shape.size() == 1 ? Shape{Dim(1), last} : shape;
  shape.back() = last;
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

Status ml_cast_map(InferContext& c) {
  if (c.type(0).kind() != TypeKind::Map) return c.error("X must be a map, is {}", to_string(c.type(0)));
  const std::string_view to = c.attrs.string_or("cast_to", "TO_FLOAT");
  const DType dtype = to == "TO_STRING" ? DType::String : to == "TO_INT64" ? DType::Int64 : DType::Float32;
  const bool sparse = c.attrs.string_or("map_form", "DENSE") == "SPARSE";
  const std::int64_t most = c.attrs.int_or("max_map", 1);
  if (sparse && most < 0) return c.error("max_map is negative: {}", most);
  c.set(0, Type::tensor(dtype, {Dim(1), sparse ? Dim(most) : Dim::unknown()}));
  return ok();
}

Status ml_category_mapper(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  const DType in = c.type(0).dtype();
  if (in != DType::String && in != DType::Int64 && in != DType::Undefined) {
    return c.error("X must be string or int64, is {}", name(in));
  }
  c.set(0, c.type(0).with_dtype(in == DType::String ? DType::Int64 : DType::String));
  return ok();
}

Status ml_dict_vectorizer(InferContext& c) {
  if (c.type(0).kind() != TypeKind::Map) return c.error("X must be a map, is {}", to_string(c.type(0)));
  const Type& value = c.type(0).element();
  const std::size_t words = std::max(length_of(c.attrs, "string_vocabulary"), length_of(c.attrs, "int64_vocabulary"));
  c.set(0, Type::tensor(value.is_tensor() ? value.dtype() : DType::Float32, {Dim(1), known_or_unknown(words)}));
  return ok();
}

Status ml_feature_vectorizer(InferContext& c) {
  const auto widths = c.attrs.ints_or_empty("inputdimensions");
  if (!widths.empty() && widths.size() != c.operands()) {
    return c.error("inputdimensions has {} entries for {} operands", widths.size(), c.operands());
  }
  SymInt columns = 0;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    if (!require_rank(c, i, "X", 1, 2)) return Failure{};
    if (!widths.empty() && widths[i] < 0) return c.error("inputdimensions holds {}", widths[i]);
    columns = columns + (widths.empty() ? dim_of(c, i, -1) : SymInt(widths[i]));
  }
  c.set(0, Type::tensor(DType::Float32, {rows(c), columns}));
  return ok();
}

Status ml_label_encoder(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  DType dtype = DType::Undefined;
  if (const Attr* t = c.attrs.find("values_tensor"); t && std::holds_alternative<Literal>(*t)) {
    dtype = std::get<Literal>(*t).type.dtype();
  } else if (c.attrs.has("values_strings")) {
    dtype = DType::String;
  } else if (c.attrs.has("values_int64s")) {
    dtype = DType::Int64;
  } else if (c.attrs.has("values_floats")) {
    dtype = DType::Float32;
  } else if (c.attrs.has("classes_strings")) {  // ai.onnx.ml 1: strings ↔ indices
    dtype = c.type(0).dtype() == DType::String ? DType::Int64 : DType::String;
  } else {
    return c.error("has none of values_tensor, values_strings, values_int64s, values_floats");
  }
  c.set(0, c.type(0).with_dtype(dtype));
  return ok();
}

/// Results: labels [N], scores [N, classes].
Status ml_classifier(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, 2)) return Failure{};
  const Labels labels = class_labels(c.attrs);
  c.set(0, Type::tensor(labels.dtype, {rows(c)}));
  // A binary classifier may carry one label; its scores still have two columns.
  const std::size_t columns = labels.count == 1 ? 2 : labels.count;
  if (c.results() > 1) c.set(1, Type::tensor(DType::Float32, {rows(c), known_or_unknown(columns)}));
  return ok();
}

Status ml_regressor(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, 2)) return Failure{};
  const std::int64_t targets = c.attrs.int_or("n_targets", c.attrs.int_or("targets", 1));
  if (targets < 0) return c.error("the number of targets is negative: {}", targets);
  c.set(0, Type::tensor(DType::Float32, {rows(c), Dim(targets)}));
  return ok();
}

Status ml_float_like(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  c.set(0, c.type(0).with_dtype(DType::Float32));
  return ok();
}

Status ml_one_hot(InferContext& c) {
  if (!require_tensor(c, 0, "X")) return Failure{};
  const std::size_t categories = std::max(length_of(c.attrs, "cats_int64s"), length_of(c.attrs, "cats_strings"));
  if (categories == 0) return c.error("has neither cats_int64s nor cats_strings");
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(DType::Float32));
    return ok();
  }
  Shape shape = c.type(0).shape();
  shape.emplace_back(static_cast<std::int64_t>(categories));
  c.set(0, Type::tensor(DType::Float32, std::move(shape)));
  return ok();
}

Status ml_tree_ensemble(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, 2)) return Failure{};
  const std::int64_t targets = c.attrs.int_or("n_targets", 1);
  if (targets < 0) return c.error("n_targets is negative: {}", targets);
  c.set(0, Type::tensor(c.type(0).dtype(), {rows(c), Dim(targets)}));
  return ok();
}

/// A sequence of maps label → score, one per row.
Status ml_zip_map(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, 2)) return Failure{};
  const Labels labels = class_labels(c.attrs);
  c.set(0, Type::sequence(Type::map(labels.dtype, Type::tensor(DType::Float32, {}))));
  return ok();
}

/// Trees are walked root to leaf: a comparison per level, and levels grow with
/// the logarithm of a tree's nodes. Linear models and support vectors multiply
/// rows with their coefficients; everything else touches each element once.
void classical_cost(const CostContext& c, OpCost& cost) {
  const Attrs& a = c.attrs();
  cost.flops = std::max(c.elements(0), c.result_elements(0));
  const double row_count = c.type(0).is_static() && c.type(0).rank() == 2 ? c.dim(0, 0) : 1;
  if (const std::size_t coefficients = length_of(a, "coefficients")) {
    const std::size_t vectors = length_of(a, "support_vectors");
    cost.macs = row_count * static_cast<double>(coefficients + vectors);
    return;
  }
  const std::size_t nodes = std::max(length_of(a, "nodes_featureids"), length_of(a, "nodes_modes"));
  if (nodes == 0) return;
  std::size_t trees = length_of(a, "tree_roots");
  if (trees == 0) {
    auto ids = a.ints_or_empty("nodes_treeids");
    std::sort(ids.begin(), ids.end());
    trees = static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
  }
  trees = std::max<std::size_t>(trees, 1);
  double levels = 1;
  for (std::size_t n = nodes / trees; n > 1; n /= 2) ++levels;
  cost.flops = row_count * static_cast<double>(trees) * levels;
}

// ---- Training

/// Operands R, T, then groups: parameters, gradients, state…; the results
/// are the new parameters and states, in that order.
Status optimizer(InferContext& c) {
  const bool adam = c.op() == op("training.adam");
  const std::size_t groups = adam ? 4 : 3;
  const std::size_t tensors = c.operands() - 2;
  if (tensors % groups != 0) return c.error("takes R, T and {} tensors for each parameter, got {}", groups, tensors);
  const std::size_t count = tensors / groups;
  if (c.results() > count * (groups - 1))
    return c.error("has {} results, at most {} exist", c.results(), count * (groups - 1));
  for (std::size_t i = 0; i < c.results(); ++i) {
    // Group 1 holds the gradients, which have no successor.
    const std::size_t operand = i < count ? i : i + count;
    c.set(i, c.type(2 + operand));
  }
  return ok();
}

/// d y / d x for every x in `xs`: results have the types of the first operands.
Status gradient(InferContext& c) {
  const std::size_t xs = length_of(c.attrs, "xs");
  if (xs == 0) return c.error("has no attribute 'xs'");
  if (c.results() > xs) return c.error("has {} results for {} xs", c.results(), xs);
  if (xs > c.operands()) return c.error("names {} xs, has {} operands", xs, c.operands());
  for (std::size_t i = 0; i < c.results(); ++i) c.set(i, c.type(i));
  return ok();
}

// ---- Opaque

Status opaque(InferContext& c) {
  for (std::size_t i = 0; i < c.results(); ++i) {
    if (!c.declared(i)) {
      return c.error("the file does not declare the type of result {} of the unknown operator {}", i,
                     c.attrs.string_or("source_op", "?"));
    }
    c.set(i, c.declared(i));
  }
  return ok();
}

}  // namespace perfc::rules
