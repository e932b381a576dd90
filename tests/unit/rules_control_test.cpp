/// Control flow, sequences and optionals: region params, trip counts, types.
#include <functional>

#include "ir/control_flow.h"
#include "ir/rewriter.h"
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

using Values = std::vector<ValueId>;
/// Adds a body's calls; gets its params, gives its results.
using Body = std::function<Values(GraphBuilder&, const Values&)>;
using Types = std::vector<std::string>;

ValueId add(GraphBuilder& b, OpId op, Values operands, Attrs attrs = {}) {
  auto v = b.value({.op = op, .operands = std::move(operands), .attrs = std::move(attrs)});
  EXPECT_TRUE(v) << b.diagnostics().str();
  return v ? *v : ValueId{};
}

std::vector<ResultInfo> infos(const std::vector<Arg>& args) {
  std::vector<ResultInfo> out;
  out.reserve(args.size());
  for (const Arg& a : args) out.push_back({a.type, a.data});
  return out;
}

GraphRef region(const Body& body, const std::vector<ResultInfo>& params) {
  Diagnostics diags("body");
  GraphBuilder b(diags);
  Values vars;
  for (const ResultInfo& p : params) vars.push_back(b.var(p.type, "p", {}, p.data));
  Values results = body(b, vars);
  return std::make_shared<const Graph>(b.finish("body", std::move(results), {}));
}

/// A control-flow call with its bodies built as importers do.
Outcome flow(OpId op, const std::vector<Arg>& args, Attrs attrs, const std::vector<Body>& bodies, int results) {
  std::vector<ResultInfo> operands = infos(args);
  std::vector<GraphRef> regions;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    GraphRef r;
    do r = region(bodies[i], region_params(op, attrs, i, operands, 0));
    while (widen_carried(op, attrs, *r, operands));
    regions.push_back(r);
  }
  return call(op, args, std::move(attrs), results, std::move(regions));
}

Types types_or_error(const Outcome& o) { return o.error.empty() ? o.types : Types{o.error}; }

std::vector<std::string> param_types(OpId op, const Attrs& attrs, const std::vector<Arg>& args) {
  Types out;
  for (const ResultInfo& p : region_params(op, attrs, 0, infos(args), 0))
    out.push_back(to_string(p.type) + (p.data ? " " + show(p.data.get()) : ""));
  return out;
}

Arg sequence(Type element) { return {Type::sequence(std::move(element))}; }
Type f32(Shape shape) { return Type::tensor(DType::Float32, std::move(shape)); }

const Attr kOne = std::int64_t{1};

// ---- Region params

TEST(RegionParams, LoopCountsAndForgetsCarriedContents) {
  EXPECT_EQ(param_types(op("loop"), {{"captures", kOne}}, {scalar(3), omitted(), ints({7, 8}), ints({9})}),
            (Types{"Tensor[(), int64]", "Tensor[(), bool]", "Tensor[(2,), int64]", "Tensor[(1,), int64] [9]"}));
}

TEST(RegionParams, LoopTakesItsConditionsType) {
  EXPECT_EQ(param_types(op("loop"), {}, {scalar(3), tensor({1}, DType::Bool)}),
            (Types{"Tensor[(), int64]", "Tensor[(1,), bool]"}));
}

TEST(RegionParams, ScanSlicesItsAxes) {
  EXPECT_EQ(param_types(op("scan"), {{"num_scan_inputs", std::int64_t{2}}, {"scan_input_axes", Ints{0, -1}}},
                        {tensor({4}), tensor({N, 2, 3}), tensor({2, N})}),
            (Types{"Tensor[(4,), float32]", "Tensor[(2, 3), float32]", "Tensor[(2,), float32]"}));
}

TEST(RegionParams, BatchedScanHidesTheBatch) {
  EXPECT_EQ(param_types(op("scan"), {{"num_scan_inputs", kOne}, {"batched", kOne}},
                        {omitted(), tensor({5, 4}), tensor({5, N, 3})}),
            (Types{"Tensor[(4,), float32]", "Tensor[(3,), float32]"}));
}

TEST(RegionParams, SequenceMapSeesElements) {
  EXPECT_EQ(param_types(op("sequence_map"), {}, {sequence(f32({2})), ints({5})}),
            (Types{"Tensor[(2,), float32]", "Tensor[(1,), int64] [5]"}));
}

TEST(RegionParams, IfSeesItsCapturesOnly) {
  EXPECT_EQ(param_types(op("if"), {{"captures", kOne}}, {tensor({}, DType::Bool), ints({5})}),
            (Types{"Tensor[(1,), int64] [5]"}));
}

TEST(RegionParams, ContradictingCountsAreClamped) {
  const ControlLayout l =
      control_layout(op("scan"), {{"captures", std::int64_t{-3}}, {"num_scan_inputs", std::int64_t{99}}}, 2);
  EXPECT_EQ(l.captures, 0u);
  EXPECT_EQ(l.scanned, 2u);
  EXPECT_EQ(l.carried, 0u);
  EXPECT_EQ(control_layout(op("loop"), {{"captures", std::int64_t{99}}}, 2).captures, 2u);
}

// ---- if

const Body kRelu = [](GraphBuilder& b, const Values& p) -> Values { return {add(b, op("nn.relu"), {p[0]})}; };
const Body kPass = [](GraphBuilder&, const Values& p) -> Values { return {p[0]}; };
const Body kTranspose = [](GraphBuilder& b, const Values& p) -> Values { return {add(b, op("transpose"), {p[0]})}; };
const Body kShape = [](GraphBuilder& b, const Values& p) -> Values { return {add(b, op("shape_of"), {p[0]})}; };

TEST(If, JoinsItsBranches) {
  const std::vector<Arg> args{tensor({}, DType::Bool), tensor({2, 3, 2})};
  const Attrs one{{"captures", kOne}};
  EXPECT_EQ(types_or_error(flow(op("if"), args, one, {kRelu, kPass}, 1)), Types{"Tensor[(2, 3, 2), float32]"});
  EXPECT_EQ(types_or_error(flow(op("if"), {args[0], tensor({2, 3, 4})}, one, {kTranspose, kPass}, 1)),
            Types{"Tensor[(?, 3, ?), float32]"});
  EXPECT_EQ(types_or_error(flow(op("if"), args, one, {kShape, kPass}, 1)),
            Types{"if: result 0: Tensor[(3,), int64] and Tensor[(2, 3, 2), float32] have no type in common"});
}

TEST(If, KnownConditionTakesItsBranch) {
  const Outcome o = flow(op("if"), {scalar(1, DType::Bool), tensor({2, 3})}, {{"captures", kOne}}, {kShape, kPass}, 1);
  EXPECT_EQ(types_or_error(o), Types{"Tensor[(2,), int64]"});
  EXPECT_EQ(o.data, Types{"[2, 3]"});
  EXPECT_EQ(types_or_error(
                flow(op("if"), {scalar(0, DType::Bool), tensor({2, 3})}, {{"captures", kOne}}, {kShape, kPass}, 1)),
            Types{"Tensor[(2, 3), float32]"});
}

TEST(If, RefusesWhatDoesNotFit) {
  const Attrs one{{"captures", kOne}};
  const auto error = [&](Arg cond, int results) {
    return types_or_error(flow(op("if"), {std::move(cond), tensor({2})}, one, {kRelu, kPass}, results)).at(0);
  };
  EXPECT_EQ(error(tensor({}), 1), "if: condition must be bool, got float32");
  EXPECT_EQ(error(tensor({2}, DType::Bool), 1), "if: condition must be a single element, got Tensor[(2,), bool]");
  EXPECT_EQ(error(tensor({}, DType::Bool), 2), "if: the branches return 1 values, the call has 2 results");
  EXPECT_EQ(types_or_error(flow(op("if"), {tensor({}, DType::Bool), tensor({2})}, one, {kRelu}, 1)),
            Types{"if: needs 2 region(s), has 1"});
}

// ---- loop

/// Keeps the condition, hands the carried value on and stacks it.
const Body kStack = [](GraphBuilder& b, const Values& p) -> Values { return {add(b, op("copy"), {p[1]}), p[2], p[2]}; };
/// Appends a row to the carried value.
const Body kGrow = [](GraphBuilder& b, const Values& p) -> Values {
  return {p[1], add(b, op("concatenate"), {p[2], p[3]}, {{"axis", std::int64_t{0}}})};
};

TEST(Loop, StacksAsOftenAsItRuns) {
  const auto run = [](Arg m, Arg cond) {
    return types_or_error(flow(op("loop"), {std::move(m), std::move(cond), tensor({2})}, {}, {kStack}, 2)).back();
  };
  EXPECT_EQ(run(scalar(5), scalar(1, DType::Bool)), "Tensor[(5, 2), float32]");
  EXPECT_EQ(run(scalar(5), omitted()), "Tensor[(5, 2), float32]");
  EXPECT_EQ(run(scalar(-4), omitted()), "Tensor[(0, 2), float32]");
  EXPECT_EQ(run(scalar(5), scalar(0, DType::Bool)), "Tensor[(0, 2), float32]");
  EXPECT_EQ(run(scalar(5), tensor({}, DType::Bool)), "Tensor[(?, 2), float32]");
  EXPECT_EQ(run(omitted(), scalar(1, DType::Bool)), "Tensor[(?, 2), float32]");
  EXPECT_EQ(run(tensor({}, DType::Int64), omitted()), "Tensor[(?, 2), float32]");
}

TEST(Loop, ABodyThatDecidesHidesTheCount) {
  const Body decides = [](GraphBuilder& b, const Values& p) -> Values {
    return {add(b, op("less"), {p[0], p[0]}), p[2], p[2]};
  };
  EXPECT_EQ(types_or_error(flow(op("loop"), {scalar(5), scalar(1, DType::Bool), tensor({2})}, {}, {decides}, 2)).back(),
            "Tensor[(?, 2), float32]");
  EXPECT_EQ(types_or_error(flow(op("loop"), {scalar(1), scalar(1, DType::Bool), tensor({2})}, {}, {decides}, 2)).back(),
            "Tensor[(1, 2), float32]");
  EXPECT_EQ(types_or_error(flow(op("loop"), {scalar(5), omitted(), tensor({2})}, {}, {decides}, 2)).back(),
            "Tensor[(5, 2), float32]");
}

TEST(Loop, GrowingValuesLoseTheirExtent) {
  const Attrs one{{"captures", kOne}};
  EXPECT_EQ(types_or_error(flow(op("loop"), {scalar(5), omitted(), tensor({0, 3}), tensor({1, 3})}, one, {kGrow}, 1)),
            Types{"Tensor[(?, 3), float32]"});
  EXPECT_EQ(types_or_error(flow(op("loop"), {scalar(0), omitted(), tensor({0, 3}), tensor({1, 3})}, one, {kGrow}, 1)),
            Types{"Tensor[(0, 3), float32]"});
}

TEST(Loop, RefusesWhatDoesNotFit) {
  const auto error = [](const std::vector<Arg>& args, const Body& body, int results) {
    return types_or_error(flow(op("loop"), args, {}, {body}, results)).at(0);
  };
  const Body shape = [](GraphBuilder& b, const Values& p) -> Values { return {p[1], add(b, op("shape_of"), {p[2]})}; };
  const Body bad_cond = [](GraphBuilder&, const Values& p) -> Values { return {p[0], p[2]}; };
  EXPECT_EQ(error({tensor({}), omitted(), tensor({2})}, kStack, 2), "loop: trip count must be int64, got float32");
  EXPECT_EQ(error({omitted(), tensor({}), tensor({2})}, kStack, 2), "loop: condition must be bool, got float32");
  EXPECT_EQ(error({omitted(), omitted(), tensor({2})}, kStack, 1),
            "loop: the body returns 2 values after its condition, the call has 1 results");
  EXPECT_EQ(error({omitted(), omitted(), tensor({2})}, shape, 1),
            "loop: carried value 0: Tensor[(2,), float32] and Tensor[(1,), int64] have no type in common");
  EXPECT_EQ(error({omitted(), omitted(), tensor({2})}, bad_cond, 1),
            "loop: the body's condition must be bool, is Tensor[(), int64]");
}

TEST(Loop, ItsOwnCounterSaysHowOftenItRuns) {
  const Body count = [](GraphBuilder& b, const Values& p) -> Values {
    const ValueId next = add(b, op("add"), {p[2], b.constant(int64_scalar(2))});
    return {add(b, op("less"), {next, b.constant(int64_scalar(9))}), next, next};
  };
  const auto stacked = [&](Arg limit, Arg condition, Arg start) {
    return types_or_error(flow(op("loop"), {std::move(limit), std::move(condition), std::move(start)}, {}, {count}, 2))
        .back();
  };
  const Arg yes = scalar(1, DType::Bool);
  EXPECT_EQ(stacked(omitted(), yes, scalar(0)), "Tensor[(5,), int64]");
  EXPECT_EQ(stacked(omitted(), yes, scalar(100)), "Tensor[(1,), int64]");  // the first round is not asked for
  EXPECT_EQ(stacked(scalar(3), yes, scalar(0)), "Tensor[(3,), int64]");
  EXPECT_EQ(stacked(tensor({}, DType::Int64), yes, scalar(0)), "Tensor[(?,), int64]");
  EXPECT_EQ(stacked(omitted(), tensor({}, DType::Bool), scalar(0)), "Tensor[(?,), int64]");
  EXPECT_EQ(stacked(omitted(), yes, tensor({}, DType::Int64)), "Tensor[(?,), int64]");
}

TEST(Loop, ACarriedLimitIsComparedInFloatingPoint) {  // as tf2onnx writes a loop of TensorFlow
  const Body count = [](GraphBuilder& b, const Values& p) -> Values {
    const Attrs real{{"to", Attr(std::string("float32"))}};
    const ValueId next = add(b, op("add"), {p[2], b.constant(int64_scalar(1))});
    const Values sides{add(b, op("cast"), {next}, real), add(b, op("cast"), {p[3]}, real)};
    return {add(b, op("less"), sides), next, p[3], next};
  };
  const auto stacked = [&](Arg limit) {
    return types_or_error(
               flow(op("loop"), {omitted(), scalar(1, DType::Bool), scalar(0), std::move(limit)}, {}, {count}, 3))
        .back();
  };
  EXPECT_EQ(stacked(scalar(7)), "Tensor[(7,), int64]");
  EXPECT_EQ(stacked(scalar((1 << 24) + 1)), "Tensor[(?,), int64]");  // which float32 rounds
  EXPECT_EQ(stacked(tensor({}, DType::Int64)), "Tensor[(?,), int64]");
}

// ---- scan

const Body kSum = [](GraphBuilder& b, const Values& p) -> Values {
  const ValueId sum = add(b, op("add"), {p[0], p[1]});
  return {sum, sum};
};

TEST(Scan, StacksTheScannedExtent) {
  EXPECT_EQ(types_or_error(flow(op("scan"), {tensor({3}), tensor({N, 3})}, {{"num_scan_inputs", kOne}}, {kSum}, 2)),
            (Types{"Tensor[(3,), float32]", "Tensor[(N, 3), float32]"}));
  EXPECT_EQ(types_or_error(flow(
                op("scan"), {tensor({3}), tensor({3, 7})},
                {{"num_scan_inputs", kOne}, {"scan_input_axes", Ints{1}}, {"scan_output_axes", Ints{-1}}}, {kSum}, 2)),
            (Types{"Tensor[(3,), float32]", "Tensor[(3, 7), float32]"}));
}

TEST(Scan, OfOpsetEightKeepsTheBatch) {
  EXPECT_EQ(types_or_error(flow(op("scan"), {omitted(), tensor({5, 3}), tensor({5, 9, 3})},
                                {{"num_scan_inputs", kOne}, {"batched", kOne}}, {kSum}, 2)),
            (Types{"Tensor[(5, 3), float32]", "Tensor[(5, 9, 3), float32]"}));
}

TEST(Scan, RefusesWhatDoesNotFit) {
  const auto error = [](const std::vector<Arg>& args, Attrs attrs) {
    return types_or_error(flow(op("scan"), args, std::move(attrs), {kSum}, 2)).at(0);
  };
  EXPECT_EQ(error({tensor({3}), tensor({4, 3})}, {{"num_scan_inputs", kOne}, {"scan_output_axes", Ints{2}}}),
            "scan: scan_output_axes 2 is out of range for rank 2");
  EXPECT_EQ(error({tensor({3}), tensor({4, 3})}, {{"num_scan_inputs", kOne}, {"scan_input_directions", Ints{2}}}),
            "scan: scan_input_directions holds 2, must be 0 or 1");
  EXPECT_EQ(error({tensor({3}), tensor({4, 3})}, {{"num_scan_inputs", kOne}, {"scan_input_directions", Ints{-1}}}),
            "scan: scan_input_directions holds -1, must be 0 or 1");
  EXPECT_EQ(error({tensor({3}), tensor({4, 3})}, {}), "scan: num_scan_inputs must be 1 or more, is 0");
  EXPECT_EQ(error({tensor({4, 3}), tensor({5, 3})}, {{"num_scan_inputs", std::int64_t{2}}}),
            "scan: extents of the scanned axes differ: 4 and 5");
}

TEST(SequenceMap, MapsElementTypes) {
  const Body body = [](GraphBuilder& b, const Values& p) -> Values { return {add(b, op("shape_of"), {p[0]})}; };
  EXPECT_EQ(types_or_error(flow(op("sequence_map"), {sequence(f32({2, 3}))}, {}, {body}, 1)),
            Types{"Sequence[Tensor[(2,), int64]]"});
  EXPECT_EQ(types_or_error(flow(op("sequence_map"), {tensor({2, 3})}, {}, {body}, 1)),
            Types{"sequence_map: operand 0 must be a sequence, got Tensor[(2, 3), float32]"});
}

TEST(TripCount, OfFinishedCalls) {
  Diagnostics diags("t");
  GraphBuilder b(diags);
  const ValueId m = b.constant(int64_scalar(6));
  const ValueId x = b.var(f32({2}), "x");
  const GraphRef body =
      region(kStack, region_params(op("loop"), {}, 0, {{b.type(m), b.data_ref(m)}, {}, {b.type(x), nullptr}}, 3));
  const auto id = b.call({.op = op("loop"), .operands = {m, {}, x}, .results = 2, .regions = {body}});
  ASSERT_TRUE(id) << diags.str();
  const Graph g = b.finish("g", {{*id, 1}}, {"y"});
  EXPECT_EQ(trip_count(g, *id), SymInt(6));
  EXPECT_EQ(trip_count(g, m.node), SymInt::unknown());
}

// ---- Sequences

TEST(Sequence, Construct) {
  EXPECT_EQ(type_of(op("sequence.empty"), {}), "Sequence[Tensor[*, float32]]");
  EXPECT_EQ(type_of(op("sequence.empty"), {}, {{"dtype", "int8"}}), "Sequence[Tensor[*, int8]]");
  EXPECT_EQ(type_of(op("sequence.construct"), {tensor({2, 3}), tensor({4, 3})}), "Sequence[Tensor[(?, 3), float32]]");
  EXPECT_EQ(type_of(op("sequence.construct"), {tensor({2, 3}), tensor({3})}), "Sequence[Tensor[*, float32]]");
  EXPECT_EQ(type_of(op("sequence.construct"), {tensor({2}), tensor({2}, DType::Int8)}),
            "sequence.construct: elements: Tensor[(2,), float32] and Tensor[(2,), int8] have no type in common");
}

TEST(Sequence, ElementsGoInAndOut) {
  const Arg s = sequence(f32({2, 3}));
  EXPECT_EQ(type_of(op("sequence.at"), {s, scalar(0)}), "Tensor[(2, 3), float32]");
  EXPECT_EQ(type_of(op("sequence.at"), {s, tensor({2}, DType::Int64)}),
            "sequence.at: position must be a single element, got Tensor[(2,), int64]");
  EXPECT_EQ(type_of(op("sequence.at"), {tensor({2}), scalar(0)}),
            "sequence.at: operand 0 must be a sequence, got Tensor[(2,), float32]");
  EXPECT_EQ(type_of(op("sequence.insert"), {s, tensor({2, 4})}), "Sequence[Tensor[(2, ?), float32]]");
  EXPECT_EQ(type_of(op("sequence.erase"), {s, scalar(0)}), "Sequence[Tensor[(2, 3), float32]]");
  EXPECT_EQ(type_of(op("sequence.length"), {s}), "Tensor[(), int64]");
}

TEST(Sequence, Split) {
  const auto split = [](std::vector<Arg> args, Attrs attrs) {
    return type_of(op("sequence.split"), std::move(args), std::move(attrs));
  };
  const Attr axis1 = std::int64_t{1}, drop = std::int64_t{0};
  EXPECT_EQ(split({tensor({N, 6})}, {{"axis", axis1}}), "Sequence[Tensor[(N, 1), float32]]");
  EXPECT_EQ(split({tensor({N, 6})}, {{"axis", axis1}, {"keepdims", drop}}), "Sequence[Tensor[(N,), float32]]");
  EXPECT_EQ(split({tensor({N, 6}), scalar(2)}, {{"axis", axis1}, {"keepdims", drop}}),
            "Sequence[Tensor[(N, 2), float32]]");
  EXPECT_EQ(split({tensor({N, 6}), scalar(4)}, {{"axis", axis1}}), "Sequence[Tensor[(N, ?), float32]]");
  EXPECT_EQ(split({tensor({N, 6}), scalar(9)}, {{"axis", axis1}}), "Sequence[Tensor[(N, 6), float32]]");
  EXPECT_EQ(split({tensor({N, 6}), ints({3, 3})}, {{"axis", axis1}}), "Sequence[Tensor[(N, 3), float32]]");
  EXPECT_EQ(split({tensor({N, 6}), ints({2, 4})}, {{"axis", axis1}}), "Sequence[Tensor[(N, ?), float32]]");
  EXPECT_EQ(split({tensor({N, 6}), ints({2, 5})}, {{"axis", axis1}}),
            "sequence.split: split adds up to 7, the axis has 6");
  EXPECT_EQ(split({tensor({N, 6}), scalar(0)}, {{"axis", axis1}}), "sequence.split: split must be positive, is 0");
  EXPECT_EQ(split({tensor({N, 6})}, {{"axis", std::int64_t{2}}}), "sequence.split: axis 2 is out of range for rank 2");
}

TEST(Sequence, Concat) {
  const Arg s = sequence(f32({2, 3}));
  const Attr axis = std::int64_t{1};
  EXPECT_EQ(type_of(op("sequence.concat"), {s}, {{"axis", axis}}), "Tensor[(2, ?), float32]");
  EXPECT_EQ(type_of(op("sequence.concat"), {s}, {{"axis", axis}, {"new_axis", kOne}}), "Tensor[(2, ?, 3), float32]");
  EXPECT_EQ(type_of(op("sequence.concat"), {s}, {{"axis", std::int64_t{-3}}, {"new_axis", kOne}}),
            "Tensor[(?, 2, 3), float32]");
  EXPECT_EQ(type_of(op("sequence.concat"), {s}, {{"axis", std::int64_t{2}}}),
            "sequence.concat: axis 2 is out of range for rank 2");
  EXPECT_EQ(type_of(op("sequence.concat"), {s}), "sequence.concat: has no attribute 'axis'");
}

TEST(Optional, WrapsAndUnwraps) {
  EXPECT_EQ(type_of(op("optional"), {tensor({2})}), "Optional[Tensor[(2,), float32]]");
  EXPECT_EQ(type_of(op("optional"), {}, {{"type", f32({N})}}), "Optional[Tensor[(N,), float32]]");
  EXPECT_EQ(type_of(op("optional"), {}), "optional: without an operand it needs the attribute 'type'");
  EXPECT_EQ(type_of(op("optional.get"), {{Type::optional(f32({2}))}}), "Tensor[(2,), float32]");
  EXPECT_EQ(type_of(op("optional.get"), {sequence(f32({2}))}), "Sequence[Tensor[(2,), float32]]");
  EXPECT_EQ(data_of(op("optional.has"), {}), "[0]");
  EXPECT_EQ(data_of(op("optional.has"), {tensor({2})}), "[1]");
  EXPECT_EQ(data_of(op("optional.has"), {{Type::optional(f32({2}))}}), "-");
}

}  // namespace
}  // namespace perfc::testing
