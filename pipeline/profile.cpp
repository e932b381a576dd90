#include "pipeline/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <list>

#include "counters/readers/reader.h"
#include "frontends/frontend.h"

namespace perfc {
namespace {

namespace fs = std::filesystem;

/// HPCToolkit writes a file per rank and thread; each is mapped.
constexpr std::size_t kMaxFiles = 20'000;

Result<std::vector<std::string>> files_in(const std::string& folder, Diagnostics& diags) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    if (out.size() == kMaxFiles)
      return diags.error(fmt::format("holds more than {} files; name the profile's own folder", kMaxFiles));
    out.push_back(at->path().string());
  }
  if (error) return diags.error("cannot read the folder: " + error.message());
  if (out.empty()) return diags.error("the folder holds no file; a profile was expected");
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Result<Profile> load_profile(const std::string& path, const std::string& mapping, Diagnostics& diags) {
  std::error_code ignored;
  std::vector<std::string> names{path};
  if (fs::is_directory(path, ignored)) {
    auto found = files_in(path, diags);
    if (!found) return Failure{};
    names = std::move(*found);
  }
  std::list<Source> sources;
  ProfileFiles files{.path = path};
  for (const std::string& name : names) {
    if (names.size() > 1) diags.in_file(name);
    auto source = Source::open(name, diags);
    if (!source) return Failure{};
    files.files.push_back({sources.emplace_back(std::move(*source)).name(), {}});
    files.files.back().bytes = sources.back().bytes();
  }
  if (!mapping.empty()) {
    diags.in_file(mapping);
    auto source = Source::open(mapping, diags);
    if (!source) return Failure{};
    files.mapping = sources.emplace_back(std::move(*source)).bytes();
    files.mapping_name = mapping;
  }
  diags.in_file(path == "-" ? "<stdin>" : path);
  return read_profile(files, diags);
}

}  // namespace perfc
