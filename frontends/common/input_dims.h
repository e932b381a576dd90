#pragma once
/// What the user says about shapes, applied to the inputs of a model.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/frontend.h"

namespace perfc {

struct ModelInput {
  std::string_view name;
  Type type;
  SourceLoc loc;
};

/// One per import. `apply` settles the inputs, `bind` then brings every other
/// type that the file declares in line with them.
class InputDims {
 public:
  explicit InputDims(const ImportOptions& options);

  /// `--shape` replaces shapes and binds the names it meets; `--batch` binds
  /// leading dims that stand for a batch; `--dim` binds by name. Dims without a
  /// name get one ("INPUT.AXIS") that `--dim` can bind.
  Status apply(std::vector<ModelInput>& inputs, Diagnostics&);

  /// The type with bound names replaced by their values, in containers too.
  Type bind(const Type&) const;

  /// `--shape` changed a dim that the file fixes: the types that it declares for
  /// other values do not hold any more.
  bool overridden() const { return overridden_; }

 private:
  Status check_names(const std::vector<ModelInput>& inputs, Diagnostics&) const;
  Status replace_shapes(std::vector<ModelInput>& inputs, Diagnostics&);
  void open_batch(const std::vector<ModelInput>& inputs);

  const ImportOptions& options_;
  std::map<std::string, std::int64_t, std::less<>> values_;
  bool overridden_ = false;
};

}  // namespace perfc
