/// In programs without an HTTP library: becomes perfc-serve.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/serve/serve.h"
#include "ir/support/input_file.h"
#include "ir/support/text.h"

namespace perfc::cli {

int serve(const ServeOptions&) {
  Diagnostics diags("/proc/self/cmdline");
  const auto source = Source::open(diags.file(), diags);
  if (!source) return print(diags), kBadInput;
  std::vector<std::string> words;
  for (std::string_view rest = source->bytes(); !rest.empty();) words.emplace_back(next_word(rest, '\0'));
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (own.parent_path() / "perfc-serve").string();
  ::execv(program.c_str(), arguments.data());
  return fail(kBadInput, fmt::format("serve: {} cannot be started: {}; it is built and installed beside perfc", program,
                                     std::strerror(errno)));
}

}  // namespace perfc::cli
