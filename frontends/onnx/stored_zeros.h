#pragma once
/// Masks that hide nothing. Of all weights only these are looked at: what an exporter computed once and for all of a
/// mask that lets everything through is zeros, added to the scores of an attention, and the attention runs without it.
#include <map>
#include <optional>
#include <string>

#include "frontends/onnx/proto.h"
#include "ir/support/input_file.h"

namespace perfc::onnx {

class StoredZeros {
 public:
  /// `model`: the path of the file; external data is looked for in its folder. Empty: it is nowhere.
  explicit StoredZeros(std::string model) : model_(std::move(model)) {}

  /// Is it a tensor of floats, of rank 3 or more with one entry for all heads (the third dim from the end), and are
  /// all its bytes 0? Reads up to the first that is not, of files below the model's folder only; data that is missing
  /// or too short is not known to be zeros.
  bool hold(const TensorView&, const Type&);

 private:
  std::optional<Bytes> external(const TensorView&, std::size_t size);

  std::string model_;
  std::map<std::string, std::optional<InputFile>, std::less<>> files_;  ///< by location; nothing: cannot be read
};

}  // namespace perfc::onnx
