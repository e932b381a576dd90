#include "cli/yaml_file.h"

#include "cli/cli.h"
#include "ir/support/input_file.h"

namespace perfc::cli {
namespace {

bool complain_at(const std::string& file, const YAML::Mark& at, const std::string& text) {
  say("{}:{}:{}: error: {}\n", file, at.line + 1, at.column + 1, text);
  return false;
}

}  // namespace

bool complain(const std::string& file, const YAML::Node& at, const std::string& text) {
  return complain_at(file, at.Mark(), text);
}

bool read_yaml(const std::string& path, const std::function<bool(const YAML::Node&)>& read) {
  Diagnostics diags(path);
  const auto file = InputFile::open(path, diags);
  print(diags);
  if (!file) return false;
  try {
    return read(YAML::Load(std::string(file->bytes())));
  } catch (const YAML::Exception& e) { return complain_at(path, e.mark, e.msg); }
}

}  // namespace perfc::cli
