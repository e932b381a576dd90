#pragma once
/// Attributes by which a PyTorch program's importer says what eager execution launches where the operators alone do
/// not (compilers ask them only what is written in place), and by which importers say what a call does not say itself.
#include <string_view>

#include "ir/attrs.h"
#include "ir/operand_set.h"

namespace perfc {

/// Marks a call whose value follows from shapes and numbers alone (positions, masks): eager execution launches it all
/// the same, where a compiler computes it away, and even where nothing reads it.
inline constexpr std::string_view kLaunched = "launched";

/// Marks a call that is written out here but is part of what another call's kernel does: where an in-place operator
/// writes, how several index tensors meet.
inline constexpr std::string_view kInside = "inside";

/// Marks a call whose last operand eager execution copies first, to write into the copy.
inline constexpr std::string_view kOnCopy = "on_copy";

/// Names the operator that a call stands for: it costs as much, but does not compute the same.
inline constexpr std::string_view kStandsFor = "stands_for";

/// Marks a GELU that the file has as one operator, not as the arithmetic that it stands for.
inline constexpr std::string_view kOneOperator = "one_operator";

/// Names the plugin of TensorRT that a call was written as: no other runtime has its kernels.
inline constexpr std::string_view kPlugin = "plugin";

/// Marks a pool whose windows are those of an adaptive pool and differ in size: the window that it says is the largest.
inline constexpr std::string_view kUneven = "uneven";

/// Says of a convolution or dense layer that an exporter folded the batch norm behind it into its weights and its bias:
/// `kNormAlone`, or `kNormAndBias` where it had a bias of its own before. Eager execution launches the norm.
inline constexpr std::string_view kFoldedNorm = "folded_norm", kNormAlone = "batch_norm",
                                  kNormAndBias = "bias batch_norm";

/// Marks an addition that shifts what the multiplication before it scaled: a batch norm, channels first, as an exporter
/// wrote it out.
inline constexpr std::string_view kWrittenOutNorm = "written_out_norm";

/// Marks a transpose of images to channels first that a converter of another framework added: the network itself has
/// none there, and its images lie as `--layout` says.
inline constexpr std::string_view kAddedTranspose = "added_transpose";

/// Marks a convolution whose padding was an operator of its own before an exporter folded it in.
inline constexpr std::string_view kFoldedPad = "folded_pad";

/// Says which operands of a call the program casts to the type that they have (`OperandSet::bits`): nothing happens in
/// the file's precision, but in 16 bits they are cast to float32, or back.
inline constexpr std::string_view kRecast = "recast";

/// Marks a softmax that the program wants in float32, whatever its data has: its kernel reads float16, bfloat16 is
/// cast first.
inline constexpr std::string_view kWidens = "widens";

/// The marks that say how a call came to be or what runs it, and nothing of what it computes.
inline constexpr std::string_view kExecutionMarks[] = {kLaunched,   kInside,    kOnCopy,         kOneOperator,
                                                       kFoldedNorm, kFoldedPad, kWrittenOutNorm, kAddedTranspose,
                                                       kRecast,     kWidens};

/// The operands that `kRecast` names.
inline OperandSet recast_operands(const Attrs& attrs) { return OperandSet::of_bits(attrs.int_or(kRecast, 0)); }

/// The attributes with one of these marks.
inline Attrs with_mark(Attrs attrs, std::string_view mark) {
  attrs.set(mark, std::int64_t{1});
  return attrs;
}

}  // namespace perfc
