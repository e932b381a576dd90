#include "compare/model_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "frontends/frontend.h"
#include "ir/support/text.h"

namespace perfc {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kGit = "git:";
constexpr std::size_t kMostFiles = 10000;  ///< of a folder, with a model's extension

Result<ModelSet> folder_set(const std::string& given, Diagnostics& diags) {
  ModelSet out{.given = given, .folder = true, .root = given};
  std::error_code error;
  fs::recursive_directory_iterator it(given, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && it != end; it.increment(error)) {
    if (it->is_directory(error) && it->path().filename() == ".git") {
      it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file(error) || !named_as_model(it->path().filename().string())) continue;
    if (out.files.size() == kMostFiles)
      return diags.error(
          fmt::format("has more than {} files with a model's extension; name a folder below it", kMostFiles));
    out.files[it->path().lexically_relative(given).generic_string()] = it->path();
  }
  if (error) return diags.error(fmt::format("cannot read the folder: {}", error.message()));
  return out;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make(Diagnostics& diags) {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "perfc-XXXXXX").string();
  if (error || !::mkdtemp(path.data()))
    return diags.error(fmt::format("cannot make a temporary folder: {}; set TMPDIR", std::strerror(errno)));
  TemporaryFolder out;
  out.path_ = path;
  return out;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

bool named_as_model(const std::string& file_name) {
  for (const FrontendDef& f : frontend_table()) {
    std::string_view rest = f.extensions;
    while (!rest.empty()) {
      if (file_name.ends_with(next_word(rest))) return true;
    }
  }
  return false;
}

bool is_model(const fs::path& path) {
  char head[4096];
  std::ifstream file(path, std::ios::binary);
  file.read(head, sizeof head);
  const std::string_view bytes(head, static_cast<std::size_t>(file.gcount()));
  return std::ranges::any_of(frontend_table(), [&](const FrontendDef& f) { return f.sniff(bytes); });
}

Result<ModelSet> open_model_set(const std::string& given, Diagnostics& diags) {
  std::error_code ignored;
  if (given.starts_with(kGit) && !fs::exists(given, ignored)) {
    const std::size_t colon = given.find(':', kGit.size());
    if (colon == std::string::npos || colon == kGit.size()) {
      return diags.error("a revision and a path were expected, as in git:main:models/net.onnx");
    }
    auto set = git_model_set(given.substr(kGit.size(), colon - kGit.size()), given.substr(colon + 1), diags);
    if (set) set->given = given;
    return set;
  }
  const bool saved_model = fs::exists(fs::path(given) / "saved_model.pb", ignored) ||
                           fs::exists(fs::path(given) / "saved_model.pbtxt", ignored);
  if (fs::is_directory(given, ignored) && !saved_model) return folder_set(given, diags);
  ModelSet out{.given = given};
  out.files[given] = given;
  return out;
}

}  // namespace perfc
