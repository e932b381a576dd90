#pragma once
/// One side of a comparison: a file, the models of a folder, or either as of a git revision.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/support/diagnostics.h"

namespace perfc {

/// A folder of our own below the system's for temporary files, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  static Result<TemporaryFolder> make(Diagnostics&);
  TemporaryFolder(TemporaryFolder&& other) noexcept { *this = std::move(other); }
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct ModelSet {
  std::string given;  ///< what was asked for
  /// What can be opened, by path relative to the folder, or the file alone by the path it was given as. Of a folder all
  /// files with a model format's extension are here; `is_model` says which are models by their first bytes.
  std::map<std::string, std::filesystem::path> files;
  bool folder = false;
  std::string root;  ///< the folder, as it was given without revision
  TemporaryFolder checked_out;
};

/// "git:REF:PATH" is read through git's object store; the work tree is not touched.
Result<ModelSet> open_model_set(const std::string& given, Diagnostics&);
/// Whether a front end knows the file's first bytes.
bool is_model(const std::filesystem::path&);
/// Whether a name ends as a format's files do.
bool named_as_model(const std::string& file_name);

/// Files as of a revision, below `into`.
Result<ModelSet> git_model_set(const std::string& revision, const std::string& path, Diagnostics&);

}  // namespace perfc
