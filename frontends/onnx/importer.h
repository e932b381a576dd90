#pragma once
/// ONNX messages → IR. `Importer` walks the nodes of one model; the translators
/// in `translate.cpp` handle the operators whose structure differs from ours.
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tsl/robin_map.h>

#include "frontends/common/emitter.h"
#include "frontends/common/input_dims.h"
#include "frontends/frontend.h"
#include "frontends/onnx/proto.h"
#include "frontends/onnx/stored_zeros.h"
#include "ir/rewriter.h"

namespace perfc::onnx {

/// By name, for every value of a graph: flat, since its look-ups dominate an import.
template <class T>
using NameMap = tsl::robin_map<std::string_view, T, std::hash<std::string_view>, std::equal_to<>,
                               std::allocator<std::pair<std::string_view, T>>, /*StoreHash=*/true>;

/// Where a value name is looked up. A region or an inlined body opens a frame.
struct Frame {
  GraphBuilder& builder;
  Frame* outer = nullptr;  ///< lexically enclosing frame; null for functions
  NameMap<ValueId> values;
  NameMap<Bytes> initializers;  ///< not yet used
  std::unordered_map<std::string_view, Bytes> sparse_initializers;
  std::unordered_map<std::string_view, Type> declared;         ///< value_info
  std::set<std::string_view> poisoned;                         ///< their node failed
  const std::vector<AttrView>* function_attributes = nullptr;  ///< of the inlined call
  std::map<std::string_view, std::int64_t> opsets;
  std::string prefix;  ///< of node names in inlined functions
  int depth = 0;
};

/// One node while it is translated.
/// Its spelling: "Conv", "ms:FusedConv", "my.domain:Op".
struct NodeContext : Emitter {
  NodeContext(Frame& f, const NodeView& n, SourceLoc loc, std::string name, std::string spelling)
      : Emitter(f.builder, std::move(loc), std::move(name), std::move(spelling)), frame(f), node(n) {}

  Frame& frame;
  const NodeView& node;
  std::int64_t version = 1;     ///< of the node's domain
  std::vector<ValueId> inputs;  ///< empty ids for omitted ones
  Attrs attrs;
  std::vector<Type> declared;  ///< of each output
  std::size_t outputs() const { return declared.size(); }

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  using Emitter::type;
  const Type& type(std::size_t i) const;
  /// The call that stands for the node: its results are the node's outputs.
  Result<std::vector<ValueId>> finish(OpId op, std::vector<ValueId> operands, Attrs attrs,
                                      std::vector<GraphRef> regions = {}) const;
};

class Importer {
 public:
  /// `message` is a ModelProto; it must outlive the importer. `path`: where external data is beside.
  Importer(Bytes message, const std::string& path, const ImportOptions& options, Diagnostics& diags)
      : file_(message), diags_(&diags), dims_(options), zeros_(path) {}

  Result<Graph> run();

  /// Who wrote the file converts models of other frameworks than PyTorch.
  bool converted() const { return converted_; }

  /// Builds the body graphs of a control-flow node: free names become captures,
  /// appended to the operands. Carried types are weakened until they hold.
  Result<std::vector<ValueId>> control_flow(NodeContext& c, OpId op,
                                            const std::vector<std::string_view>& body_attributes);
  /// Translates a branch in place (an `if` whose condition is known).
  Result<std::vector<ValueId>> inline_branch(NodeContext& c, std::string_view attribute);

  /// Which inputs decide what a value is, as the flags that say it: "; what the input …"; "" where none does.
  std::string deciding_inputs(const Frame& frame, ValueId v) const;

  SourceLoc place(const char* at, std::int64_t node = -1) const;
  Failure damaged(const Damage& damage);

 private:
  using Functions = std::unordered_map<std::string, Bytes>;

  Status declare_inputs(Frame& frame, const GraphView& graph);
  Status open_names(Frame& frame, const GraphView& graph);
  Status declare_values(Frame& frame, const std::vector<Bytes>& value_infos);
  Status run_nodes(Frame& frame, const std::vector<Bytes>& records,
                   const std::vector<std::string_view>& defined_before);
  Status run_node(Frame& frame, const NodeView& node, std::int64_t index);
  Result<std::vector<ValueId>> translate(NodeContext& c);
  /// An operator without a domain that ai.onnx does not have is TensorRT's plugin or com.microsoft's.
  void adopt_domain(NodeContext& c) const;
  Result<std::vector<ValueId>> call_function(NodeContext& c, Bytes record);
  Result<Attrs> attributes(const Frame& frame, const NodeView& node, SourceLoc loc);
  Result<Attrs> read_attributes(const Frame& frame, const NodeView& node, SourceLoc loc);
  Result<Attr> attribute(const AttrView& a, SourceLoc loc, std::string_view node);
  Result<GraphRef> region(NodeContext& c, Bytes body, const std::vector<ResultInfo>& params, std::size_t formals,
                          const std::vector<std::string_view>& captures);
  Result<Type> value_type(const ValueInfoView& info);
  bool known_name(const Frame& frame, std::string_view name) const;
  /// Outputs of a graph that declares none: what nothing uses.
  std::vector<std::string_view> unused_values(const GraphView& graph) const;
  bool is_poisoned(const Frame& frame, std::string_view name) const;
  /// The value of a name; initializers become constants on first use.
  Result<ValueId> look_up(Frame& frame, std::string_view name);
  /// True when a name resolves to a value rather than to a weight.
  bool must_capture(const Frame& frame, std::string_view name) const;
  Result<ValueId> initializer(Frame& frame, Bytes record, bool sparse);

  Bytes file_;
  Diagnostics* diags_;  ///< swapped while a region is tried with weaker types
  InputDims dims_;      ///< what the user says of shapes
  StoredZeros zeros_;
  Functions functions_;
  NameMap<Attrs> attributes_;  ///< by their bytes in the file: the nodes of a model have few different ones
  std::vector<std::string> call_stack_;
  std::size_t inlined_nodes_ = 0;
  bool converted_ = false;
};

/// Names a graph uses but does not define, nested graphs included, in order of
/// first use. Fails beyond `kMaxDepth` nested graphs.
inline constexpr int kMaxDepth = kMaxRegionDepth;
bool free_names(Bytes graph, int depth, std::vector<std::string_view>& out, Damage& damage);

/// Of both spellings of ONNX's own domain the empty one; any other as it is.
inline std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view{} : domain;
}

using Translator = Result<std::vector<ValueId>> (*)(Importer&, NodeContext&);
struct TranslatorRow {
  std::string_view spelling;
  Translator translate;
  std::string_view becomes;  ///< operators it produces, for `perfc ops`
};
const std::vector<TranslatorRow>& translator_table();
/// Of it, the fused operators of com.microsoft that stand for several.
std::span<const TranslatorRow> contrib_table();
/// Of language models: their gates, norms and rotations; their products; what mixes streams and chooses experts.
std::span<const TranslatorRow> contrib_language_table();
std::span<const TranslatorRow> contrib_products_table();
std::span<const TranslatorRow> contrib_streams_table();
std::span<const TranslatorRow> contrib_earlier_table();
/// Of other subjects: images, padding, numbers of few bits.
std::span<const TranslatorRow> contrib_others_table();
/// MoE, QMoE and MoEPacked of com.microsoft.
Result<std::vector<ValueId>> experts(Importer&, NodeContext&);
/// Of it, TensorRT's plugins ("trt:").
std::span<const TranslatorRow> plugin_table();
/// Refuses an operator that ONNX Runtime wrote for its own kernels, saying what to save instead.
Failure runtime_layout(const NodeContext&);

/// A number or a list of numbers as a constant operand; a single float has `float_dtype`.
std::optional<Literal> as_literal(const Attr& a, DType float_dtype);
/// Turns attributes of old operator sets into operands (Squeeze-1 `axes`, …).
Status attributes_to_operands(NodeContext& c);

/// Brings nodes outside the standard whose meaning is plain into its form, each
/// with one warning (docs/onnx.md lists them). What it leaves alone, the rules refuse.
Status to_standard_form(NodeContext& c);
/// An unknown operator: a located warning, and a node typed from what the graph
/// or, as Glow writes them, the attributes declare. `what` names it.
Result<std::vector<ValueId>> keep_opaque(NodeContext& c, std::string_view what);

/// The `Graph` attribute of a node as bytes.
std::optional<Bytes> graph_attribute(const NodeView& node, std::string_view name);

}  // namespace perfc::onnx
