#include "frontends/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace perfc {
namespace {

namespace fs = std::filesystem;

/// Folders are not walked beyond so many entries.
constexpr std::size_t kMostEntries = 10'000;

/// Names of the regular files in it, sorted.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && out.size() < kMostEntries;
       it.increment(error)) {
    std::error_code unreadable;
    if (it->is_regular_file(unreadable)) out.push_back(it->path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

bool contains(const std::vector<std::string>& files, std::string_view name) {
  return std::ranges::binary_search(files, name);
}

/// Paddle's programs: a binary one, or a text one whose parameters lie beside it.
bool is_paddle_program(const std::vector<std::string>& files, const std::string& name) {
  if (name == "__model__" || name.ends_with(".pdmodel")) return true;
  if (!name.ends_with(".json")) return false;
  return name == "inference.json" || contains(files, name.substr(0, name.size() - 5) + ".pdiparams");
}

}  // namespace

Result<std::string> model_file_in(const std::string& path, Diagnostics& diags) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  const std::vector<std::string> files = files_in(path);
  const std::string folder = path.ends_with('/') ? path : path + "/";
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"})
    if (contains(files, name)) return folder + name;
  std::vector<std::string> programs;
  std::ranges::copy_if(files, std::back_inserter(programs),
                       [&](const std::string& name) { return is_paddle_program(files, name); });
  if (programs.size() == 1) return folder + programs.front();
  if (programs.size() > 1)
    return diags.error(fmt::format("cannot read: is a directory with several PaddlePaddle programs ({}); name one",
                                   fmt::join(programs, ", ")));
  return diags.error(
      "cannot read: is a directory without a saved_model.pb or saved_model.pbtxt (TensorFlow), a "
      "__model__, *.pdmodel or inference.json (PaddlePaddle); name the model file in it");
}

}  // namespace perfc
