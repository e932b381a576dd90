/// Text, ai.onnx.ml, training and opaque operators.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

using Types = std::vector<std::string>;
using Strings = std::vector<std::string>;
using Doubles = std::vector<double>;

Types run(OpId op, std::vector<Arg> args, Attrs attrs, int results) {
  const Outcome o = call(op, std::move(args), std::move(attrs), results);
  return o.error.empty() ? o.types : Types{o.error};
}

const Arg kWords = tensor({N, 3}, DType::String);
const Attr kTwo = std::int64_t{2};

TEST(Text, Types) {
  EXPECT_EQ(run(op("string.split"), {kWords}, {}, 2), (Types{"Tensor[(N, 3, ?), string]", "Tensor[(N, 3), int64]"}));
  EXPECT_EQ(run(op("string.split"), {unranked(DType::String)}, {}, 1), Types{"Tensor[*, string]"});
  EXPECT_EQ(run(op("string.split"), {tensor({2})}, {}, 2), Types{"string.split: X must be string, got float32"});
  EXPECT_EQ(type_of(op("string.concat"), {kWords, tensor({3}, DType::String)}), "Tensor[(N, 3), string]");
  EXPECT_EQ(type_of(op("string.full_match"), {kWords}), "Tensor[(N, 3), bool]");
  EXPECT_EQ(type_of(op("string.normalize"), {tensor({5}, DType::String)}), "Tensor[(5,), string]");
  EXPECT_EQ(type_of(op("string.normalize"), {tensor({5}, DType::String)}, {{"stopwords", Strings{"a"}}}),
            "Tensor[(?,), string]");
  EXPECT_EQ(type_of(op("string.tfidf"), {tensor({N, 9}, DType::Int64)}, {{"ngram_indexes", Ints{3, 0, 6}}}),
            "Tensor[(N, 7), float32]");
  EXPECT_EQ(type_of(op("string.tfidf"), {tensor({9}, DType::Int64)}), "string.tfidf: has no attribute 'ngram_indexes'");
}

TEST(Classical, Classifiers) {
  const Arg x = tensor({N, 4});
  EXPECT_EQ(run(op("ml.linear_classifier"), {x}, {{"classlabels_strings", Strings{"a", "b", "c"}}}, 2),
            (Types{"Tensor[(N,), string]", "Tensor[(N, 3), float32]"}));
  EXPECT_EQ(run(op("ml.tree_ensemble_classifier"), {tensor({4})}, {{"classlabels_int64s", Ints{0, 1}}}, 2),
            (Types{"Tensor[(1,), int64]", "Tensor[(1, 2), float32]"}));
  EXPECT_EQ(run(op("ml.svm_classifier"), {tensor({2, 3, 4})}, {}, 2),
            Types{"ml.svm_classifier: X must have a rank from 1 to 2, got Tensor[(2, 3, 4), float32]"});
}

TEST(Classical, Regressors) {
  EXPECT_EQ(type_of(op("ml.linear_regressor"), {tensor({N, 4})}, {{"targets", kTwo}}), "Tensor[(N, 2), float32]");
  EXPECT_EQ(type_of(op("ml.tree_ensemble"), {tensor({N, 4}, DType::Float64)}, {{"n_targets", kTwo}}),
            "Tensor[(N, 2), float64]");
  EXPECT_EQ(type_of(op("ml.tree_ensemble_regressor"), {tensor({N, 4})}, {{"n_targets", std::int64_t{-1}}}),
            "ml.tree_ensemble_regressor: the number of targets is negative: -1");
}

TEST(Classical, Features) {
  EXPECT_EQ(type_of(op("ml.array_feature_extractor"), {tensor({N, 9}), tensor({2, 2}, DType::Int64)}),
            "Tensor[(N, 4), float32]");
  EXPECT_EQ(type_of(op("ml.feature_vectorizer"), {tensor({N, 2}), tensor({N, 3})}), "Tensor[(N, 5), float32]");
  EXPECT_EQ(type_of(op("ml.feature_vectorizer"), {tensor({N, 2}), tensor({N, 3})}, {{"inputdimensions", Ints{2, 3}}}),
            "Tensor[(N, 5), float32]");
  EXPECT_EQ(type_of(op("ml.feature_vectorizer"), {tensor({N, 2})}, {{"inputdimensions", Ints{2, 3}}}),
            "ml.feature_vectorizer: inputdimensions has 2 entries for 1 operands");
  EXPECT_EQ(type_of(op("ml.one_hot_encoder"), {tensor({N, 1}, DType::Int64)}, {{"cats_int64s", Ints{4, 5, 6}}}),
            "Tensor[(N, 1, 3), float32]");
  EXPECT_EQ(type_of(op("ml.category_mapper"), {kWords}), "Tensor[(N, 3), int64]");
  EXPECT_EQ(type_of(op("ml.label_encoder"), {kWords}, {{"values_floats", Doubles{1, 2}}}), "Tensor[(N, 3), float32]");
  EXPECT_EQ(type_of(op("ml.label_encoder"), {kWords}),
            "ml.label_encoder: has none of values_tensor, values_strings, values_int64s, values_floats");
  EXPECT_EQ(type_of(op("ml.normalizer"), {tensor({N, 3}, DType::Int64)}), "Tensor[(N, 3), float32]");
}

TEST(Classical, Maps) {
  const Arg map{Type::map(DType::Int64, Type::tensor(DType::Float32, {}))};
  EXPECT_EQ(type_of(op("ml.cast_map"), {map}, {{"map_form", "SPARSE"}, {"max_map", kTwo}}), "Tensor[(1, 2), float32]");
  EXPECT_EQ(type_of(op("ml.dict_vectorizer"), {map}, {{"int64_vocabulary", Ints{1, 2, 3}}}), "Tensor[(1, 3), float32]");
  EXPECT_EQ(type_of(op("ml.zip_map"), {tensor({N, 3})}, {{"classlabels_strings", Strings{"a"}}}),
            "Sequence[Map[string, Tensor[(), float32]]]");
  EXPECT_EQ(type_of(op("ml.cast_map"), {tensor({2})}), "ml.cast_map: X must be a map, is Tensor[(2,), float32]");
}

TEST(Classical, Work) {
  // Two trees of seven nodes: three levels each.
  const Outcome trees =
      call(op("ml.tree_ensemble_regressor"), {tensor({10, 4})},
           {{"nodes_featureids", Ints(14, 0)}, {"nodes_treeids", Ints{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}}});
  EXPECT_EQ(trees.cost.flops, 10 * 2 * 3);
  EXPECT_EQ(call(op("ml.linear_regressor"), {tensor({10, 4})}, {{"coefficients", Doubles(8, 0.5)}, {"targets", kTwo}})
                .cost.macs,
            80);
}

TEST(Training, OptimizersReturnWhatTheyUpdate) {
  const Arg r = tensor({}), t = tensor({}, DType::Int64), x = tensor({2}), y = tensor({3});
  EXPECT_EQ(
      run(op("training.momentum"), {r, t, x, y, x, y, x, y}, {}, 4),
      (Types{"Tensor[(2,), float32]", "Tensor[(3,), float32]", "Tensor[(2,), float32]", "Tensor[(3,), float32]"}));
  EXPECT_EQ(run(op("training.adam"), {r, t, x, x, x, x}, {}, 3), (Types(3, "Tensor[(2,), float32]")));
  EXPECT_EQ(run(op("training.adam"), {r, t, x, x, x}, {}, 3),
            Types{"training.adam: takes R, T and 4 tensors for each parameter, got 3"});
  EXPECT_EQ(run(op("training.gradient"), {x, y}, {{"xs", Strings{"x", "y"}}}, 2),
            (Types{"Tensor[(2,), float32]", "Tensor[(3,), float32]"}));
  EXPECT_EQ(run(op("training.gradient"), {x}, {}, 1), Types{"training.gradient: has no attribute 'xs'"});
}

TEST(Opaque, IsWhatTheFileDeclares) {
  const Attrs source{{"source_op", "custom:Foo"}};
  const Outcome o = call(op("opaque"), {tensor({2})}, source, 1, {}, {Type::tensor(DType::Int8, {N})});
  EXPECT_EQ(o.types, Types{"Tensor[(N,), int8]"}) << o.error;
  EXPECT_EQ(run(op("opaque"), {tensor({2})}, source, 2),
            Types{"opaque: the file does not declare the type of result 0 of the unknown operator custom:Foo"});
}

TEST(Call, NeedsAResult) {
  EXPECT_EQ(run(op("nn.lstm"), {tensor({7, 5, 3}), tensor({1, 16, 3}), tensor({1, 16, 4})}, {}, 0),
            Types{"nn.lstm: has no results"});
}

}  // namespace
}  // namespace perfc::testing
