#pragma once
/// What the user says about shapes and contents, applied to the inputs of a model.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/frontend.h"

namespace perfc {

struct ModelInput {
  std::string_view name;
  Type type;
  SourceLoc loc;
  DataRef data = nullptr;  ///< what `--value` says that it holds
};

/// One per import. `apply` settles the inputs, `bind` then brings every other
/// type that the file declares in line with them.
class InputDims {
 public:
  explicit InputDims(const ImportOptions& options);

  /// `--shape` replaces shapes and binds the names it meets; `--batch` binds
  /// dims that stand for a batch, the leading ones unless `--batch-axis` says
  /// otherwise; `--dim` binds by name; `--value` says what inputs hold. Dims
  /// without a name get one ("INPUT.AXIS") that `--dim` can bind.
  Status apply(std::vector<ModelInput>& inputs, Diagnostics&);

  /// The type with bound names replaced by their values, in containers too.
  Type bind(const Type&) const;

  /// `--shape` changed a dim that the file fixes: the types that it declares for
  /// other values do not hold any more.
  bool overridden() const { return overridden_; }

  /// Names of the inputs' dims that nothing bound.
  const std::set<std::string>& open() const { return open_; }

 private:
  Status check_names(const std::vector<ModelInput>& inputs, Diagnostics&) const;
  Status check_batch_axes(const std::vector<ModelInput>& inputs, Diagnostics&) const;
  Status replace_shapes(std::vector<ModelInput>& inputs, Diagnostics&);
  /// Vectors of open length have as many entries as `--value` gives.
  Status take_lengths(const std::vector<ModelInput>& inputs, Diagnostics&);
  Status fill(std::vector<ModelInput>& inputs, Diagnostics&) const;
  void open_batch(const std::vector<ModelInput>& inputs);
  BatchPlace place(const ModelInput&) const;
  /// Binds a name for a flag; an error where another flag bound it otherwise.
  Status bind_name(const std::string& name, std::int64_t value, const std::string& flag, Diagnostics&);

  const ImportOptions& options_;
  std::map<std::string, std::int64_t, std::less<>> values_;
  std::map<std::string, std::string> flags_;  ///< what bound a name, for messages
  std::set<std::string> open_;
  bool overridden_ = false;
};

/// The flags that bind dims of these names, for messages: "--dim A=N --dim B=N".
std::string dim_flags(const std::set<std::string>& names);

/// The input that a flag names, "" for the only one, or a message that lists them.
Result<std::size_t> find_input(const std::vector<ModelInput>&, const std::string& name, std::string_view flag,
                               std::string_view example, Diagnostics&);

}  // namespace perfc
