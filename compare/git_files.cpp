/// Files of a git revision, from its object store: `git cat-file` and `git ls-tree`, started without a shell.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "compare/model_set.h"
#include "ir/support/text.h"

extern char** environ;

namespace perfc {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";

std::string contents(const fs::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string out(most, '\0');
  file.read(out.data(), static_cast<std::streamsize>(most));
  out.resize(static_cast<std::size_t>(file.gcount()));
  return out;
}

/// Runs git with these arguments, its output to `out`. A failure is reported in git's words.
class Git {
 public:
  Git(const fs::path& folder, Diagnostics& diags) : errors_(folder / "errors"), diags_(diags) {}

  Status run(std::vector<std::string> arguments, const fs::path& out) {
    arguments.insert(arguments.begin(), "git");
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (std::string& a : arguments) words.push_back(a.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_addopen(&files, 2, errors_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, "git", &files, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (failed) return diags_.error(fmt::format("cannot start git: {}", std::strerror(failed)));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ok();
    std::string why = contents(errors_, 1000);
    while (!why.empty() && why.back() == '\n') why.pop_back();
    return diags_.error(fmt::format("git {}: {}", arguments[1], why.empty() ? "failed" : why));
  }

 private:
  fs::path errors_;
  Diagnostics& diags_;
};

/// A blob as a file.
Status write_blob(Git& git, const std::string& object, const fs::path& to, Diagnostics& diags) {
  if (!git.run({"cat-file", "blob", object}, to)) return Failure{};
  if (contents(to, kPointer.size()) != kPointer) return ok();
  return diags.error(
      "is a pointer of Git LFS in that revision, not the model; check the revision out with LFS and name the file");
}

/// An entry of `git ls-tree -r -z`: "100644 blob SHA\tPATH".
struct Entry {
  std::string_view mode, object, path;
};
std::optional<Entry> entry_of(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  std::string_view head = line.substr(0, tab);
  Entry out;
  out.mode = next_word(head);
  next_word(head);
  out.object = next_word(head);
  out.path = line.substr(tab + 1);
  return out;
}

}  // namespace

Result<ModelSet> git_model_set(const std::string& revision, const std::string& path, Diagnostics& diags) {
  if (revision.starts_with("-")) return diags.error(fmt::format("'{}' is no revision", revision));
  auto folder = TemporaryFolder::make(diags);
  if (!folder) return Failure{};
  const fs::path out = folder->path() / "out";
  Git git(folder->path(), diags);
  const std::string object = revision + ":" + path;
  if (!git.run({"cat-file", "-t", object}, out)) return Failure{};
  const std::string type = contents(out, 100);
  ModelSet set;
  const auto place = [&](std::size_t number, std::string_view name) {
    const fs::path below = folder->path() / fmt::format("{}", number);
    std::error_code ignored;
    fs::create_directory(below, ignored);
    const std::string base(name.substr(name.rfind('/') + 1));
    return below / (base.empty() || base == "." || base == ".." ? "model" : base);
  };
  if (type.starts_with("blob")) {
    const fs::path to = place(0, path);
    if (!write_blob(git, object, to, diags)) return Failure{};
    set.files[path] = to;
  } else {
    set.folder = true;
    set.root = path;
    if (!git.run({"ls-tree", "-r", "-z", "--full-tree", object}, out)) return Failure{};
    std::ifstream list(out, std::ios::binary);
    std::string line;
    for (std::size_t number = 0; std::getline(list, line, '\0');) {
      const auto entry = entry_of(line);
      if (!entry || !entry->mode.starts_with("100") || !named_as_model(std::string(entry->path))) continue;
      const fs::path to = place(number++, entry->path);
      Diagnostics of_file(fmt::format("{}/{}", diags.file(), entry->path));
      if (!write_blob(git, std::string(entry->object), to, of_file)) {
        diags.append(of_file);
        return Failure{};
      }
      set.files[std::string(entry->path)] = to;
    }
  }
  set.checked_out = std::move(*folder);
  return set;
}

}  // namespace perfc
