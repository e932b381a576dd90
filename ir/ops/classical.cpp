/// Rules for text, ai.onnx.ml, training, opaque.
#include "ir/infer_context.h"
#include "ir/ops/rules.h"

namespace perfc::rules {

Status string_split(InferContext& c) { return c.error("no shape rule yet"); }
Status string_normalize(InferContext& c) { return c.error("no shape rule yet"); }
Status tfidf(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_array_feature_extractor(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_cast_map(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_category_mapper(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_dict_vectorizer(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_feature_vectorizer(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_label_encoder(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_classifier(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_regressor(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_float_like(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_one_hot(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_tree_ensemble(InferContext& c) { return c.error("no shape rule yet"); }
Status ml_zip_map(InferContext& c) { return c.error("no shape rule yet"); }
Status optimizer(InferContext& c) { return c.error("no shape rule yet"); }
Status gradient(InferContext& c) { return c.error("no shape rule yet"); }
Status opaque(InferContext& c) { return c.error("no shape rule yet"); }
void classical_cost(const CostContext&, OpCost&) {}

}  // namespace perfc::rules
