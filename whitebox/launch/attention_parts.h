#pragma once
/// Attention that runs as its parts: scale · q, q · kᵀ, or scale · scores, + mask, softmax, (cast), · v.
#include "ir/ops/attention_operands.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernel_maker.h"
#include "whitebox/launch/plan_writer.h"

namespace perfc {

class AttentionParts {
 public:
  AttentionParts(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out)
      : of_(graph), maker_(maker), out_(out) {}

  /// A kernel per part.
  void eager(NodeId, const WrittenOutAttention&);
  /// By a compiler: what stands between the products is one kernel, and so are casts, scale and
  /// the copies that batched products need of permuted operands.
  void compiled(NodeId, const WrittenOutAttention&);
  /// In ONNX Runtime: the products take the scale (matmul_scale_fusion.cc).
  void session(NodeId, const WrittenOutAttention&);
  /// com.microsoft's operators that are not one kernel. Those that multiply their input by the weights of Q, K and V
  /// first: that product, a kernel that adds its bias and brings the heads into order, then attention. Its fused
  /// kernels take no mask of several dims; by parts, the softmax reads the mask (onnxruntime/contrib_ops/cuda/bert:
  /// attention.cc, multihead_attention.cc, attention_impl.cu, add_bias_transpose.cu). False: any other call.
  bool by_operator(NodeId);

 private:
  using enum AttentionOperand::Index;

  /// One attention.
  struct Parts {
    NodeId id;
    const Node& node;
    const WrittenOutAttention& of;
    Kernel whole;             ///< as if it were one kernel
    bool half = false;        ///< scores of 16 bits
    double width = 4;         ///< bytes per element of the products
    double elements[3] = {};  ///< of q, k, v …
    double dense[3] = {};     ///< … and of their copies, with each head's own
    double written = 0;       ///< elements of the result
    Extents scores, qk, av;
  };
  Parts parts_of(NodeId, const WrittenOutAttention&) const;
  Parts parts_of(NodeId, const AttentionSpan&, const WrittenOutAttention&) const;
  void project(const Parts&);
  /// What one kernel of them does.
  struct Part {
    OpId what;
    Extents extents;
    Work work;
    double bytes = 0;
  };
  Kernel kernel_of(const Parts&, const Part&) const;
  void launch(const Parts&, HostCall, Kernel);
  /// A call of the model's, or, in PyTorch's reference implementation, one that its call makes.
  void add(const Parts& p, const Part& part) {
    launch(p, p.of.reference ? HostCall::Inner : host_call(part.what), kernel_of(p, part));
  }
  void product_with_keys(const Parts&);
  void product_with_values(const Parts&);
  void on_operand(const Parts&, OpId what, std::size_t operand, double bytes_per_element);
  void on_scores(const Parts&, OpId what, double flops_per_score, double bytes);
  Kernel dense_copy(const Parts&, std::size_t operand, double read_width) const;
  /// Whether a batched product copies this operand first.
  bool copies_operand(ValueId) const;
  /// Before the products: scale, casts and copies of PyTorch's reference; of what the model wrote.
  void prepare_reference(const Parts&, bool casts);
  void repeat_heads(const Parts&);
  /// The reference's mask of `is_causal`: ones, their triangle, what it lets through and what not, as numbers.
  void make_causal_mask(const Parts&);
  /// torch.matmul's copy of an operand that is no stack of matrices as it lies.
  void copy_for_reference(const Parts&, std::size_t operand);
  void prepare(const Parts&);
  void softmax(const Parts&);
  void cast_result(const Parts&);

  const PlannedGraph& of_;
  const KernelMaker& maker_;
  PlanWriter& out_;
};

}  // namespace perfc
