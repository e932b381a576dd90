/// Manual pages, and the same as Markdown, from what --help prints: one of perfc, one of each of its commands.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "cli/cli.h"

namespace perfc::cli {
namespace {

/// What an option's value is, "" of a flag: N, NUMBER, TEXT or one of its choices.
struct ValueName {
  std::string operator()(bool*) const { return ""; }
  std::string operator()(std::uint64_t*) const { return "N"; }
  std::string operator()(std::vector<std::uint64_t>*) const { return "N…"; }
  std::string operator()(double*) const { return "NUMBER"; }
  std::string operator()(std::optional<double>*) const { return "NUMBER"; }
  std::string operator()(std::vector<std::string>*) const { return "TEXT…"; }
  std::string operator()(std::string*) const { return "TEXT"; }
  std::string operator()(std::monostate) const { return "TEXT"; }
};

std::string value_name(const Option& o) {
  if (const auto* one = std::get_if<OneOf>(&o.demand)) return fmt::format("{}", fmt::join(one->choices, "|"));
  return std::visit(ValueName{}, o.target);
}

/// What the value has to be beyond its kind, and what it is otherwise: " (…)" behind the help.
std::string remark(const Option& o) {
  std::vector<std::string> parts;
  if (o.needed) parts.emplace_back("required");
  if (const auto* whole = std::get_if<WholeBetween>(&o.demand))
    parts.push_back(fmt::format("{} to {}", whole->least, whole->most));
  if (const auto* real = std::get_if<RealBetween>(&o.demand))
    parts.push_back(fmt::format("{:g} to {:g}", real->least, real->most));
  if (std::holds_alternative<Positive>(o.demand)) parts.emplace_back("above 0");
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, "; "));
}

struct OptionNames {
  std::vector<std::string> dashed;
  std::string place;  ///< of a value without a name before it
};

OptionNames names_in(const Option& o) {
  OptionNames out;
  std::istringstream names(o.names);
  for (std::string name; std::getline(names, name, ',');) {
    if (name.starts_with("-")) {
      out.dashed.push_back(name);
    } else {
      out.place = name;
    }
  }
  return out;
}

/// The options of a command with those that CLI11 adds.
std::vector<Option> all_options(const Command& c) {
  std::vector<Option> out{
      {.names = "-h,--help", .help = "Print the options and exit", .target = static_cast<bool*>(nullptr)}};
  if (!c.version.empty())
    out.push_back({.names = "--version", .help = "Print the version and exit", .target = static_cast<bool*>(nullptr)});
  out.insert(out.end(), c.options.begin(), c.options.end());
  return out;
}

/// How a page is written: as a manual's source (man(7)), or as Markdown.
class Page {
 public:
  virtual ~Page() = default;
  virtual void title(const std::string& name, const std::string& summary) = 0;
  virtual void section(const std::string& heading) = 0;
  virtual void subsection(const std::string& heading) = 0;
  virtual void paragraph(const std::string& text) = 0;
  virtual void usage(const std::string& line) = 0;
  virtual void item(const std::vector<std::string>& names, const std::string& value, const std::string& text) = 0;
  virtual void see(const std::vector<std::string>& pages) = 0;
  std::string text;
};

class Roff final : public Page {
 public:
  explicit Roff(std::string date) : date_(std::move(date)) {}
  void title(const std::string& name, const std::string& summary) override {
    text += fmt::format(".TH {} 1 \"{}\" \"perfc {}\" \"User Commands\"\n.SH NAME\n", upper_ascii(name), date_,
                        PERFC_VERSION);
    text += line(name + " - " + summary);
  }
  void section(const std::string& heading) override { text += fmt::format(".SH {}\n", upper_ascii(heading)); }
  void subsection(const std::string& heading) override { text += fmt::format(".SS {}\n", escaped(heading)); }
  void paragraph(const std::string& words) override {
    if (!text.ends_with("\n.PP\n") && !after_heading()) text += ".PP\n";
    text += line(words);
  }
  void usage(const std::string& words) override {
    if (!after_heading()) text += ".br\n";
    text += line(words);
  }
  void item(const std::vector<std::string>& names, const std::string& value, const std::string& words) override {
    std::vector<std::string> bold;
    bold.reserve(names.size());
    for (const std::string& n : names) bold.push_back(fmt::format("\\fB{}\\fR", escaped(n)));
    text += fmt::format(".TP\n{}{}\n{}", fmt::join(bold, ", "),
                        value.empty() ? "" : fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", escaped(value)),
                        line(words));
  }
  void see(const std::vector<std::string>& pages) override {
    section("see also");
    for (const std::string& p : pages)
      text += fmt::format(".BR {} (1){}\n", escaped(p), &p == &pages.back() ? "" : " ,");
  }

 private:
  static std::string upper_ascii(std::string words) {
    for (char& c : words) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return words;
  }
  /// Hyphens stay what they are when they are copied; a backslash is one.
  static std::string escaped(const std::string& words) {
    std::string out;
    for (const char c : words) {
      if (c == '-') {
        out += "\\-";
      } else if (c == '\\') {
        out += "\\e";
      } else {
        out += c;
      }
    }
    return out;
  }
  /// Lines of text, none of which is roff's own, however it begins.
  static std::string line(const std::string& words) {
    constexpr std::size_t kWidth = 78;
    std::string out, current;
    const auto end_line = [&] {
      if (current.starts_with('.') || current.starts_with('\'')) out += "\\&";
      out += current + "\n";
      current.clear();
    };
    std::istringstream in(escaped(words));
    for (std::string word; in >> word;) {
      if (!current.empty() && current.size() + word.size() >= kWidth) end_line();
      current += (current.empty() ? "" : " ") + word;
    }
    end_line();
    return out;
  }
  bool after_heading() const {
    const std::size_t last = text.rfind('\n', text.size() - 2);
    return text.compare(last + 1, 2, ".S") == 0;
  }
  std::string date_;
};

class Markdown final : public Page {
 public:
  void title(const std::string& name, const std::string& summary) override {
    text += fmt::format("# {}\n\n{}.\n", name, escaped(summary));
  }
  void section(const std::string& heading) override {
    text += fmt::format("\n## {}{}\n", static_cast<char>(std::toupper(heading[0])), heading.substr(1));
  }
  void subsection(const std::string& heading) override { text += fmt::format("\n### {}\n", heading); }
  void paragraph(const std::string& words) override { text += fmt::format("\n{}\n", escaped(words)); }
  void usage(const std::string& words) override { text += fmt::format("\n    {}\n", words); }
  void item(const std::vector<std::string>& names, const std::string& value, const std::string& words) override {
    std::vector<std::string> code;
    code.reserve(names.size() + 1);
    for (const std::string& n : names) code.push_back(fmt::format("`{}`", n));
    if (!value.empty()) code.push_back(fmt::format("`{}`", value));
    text += fmt::format("\n- {}: {}\n", fmt::join(code, " "), escaped(words));
  }
  void see(const std::vector<std::string>& pages) override {
    section("see also");
    std::vector<std::string> links;
    links.reserve(pages.size());
    for (const std::string& p : pages) links.push_back(fmt::format("[{0}]({0}.md)", p));
    text += fmt::format("\n{}\n", fmt::join(links, ", "));
  }

 private:
  /// What Markdown would take for its own, outside of code.
  static std::string escaped(const std::string& words) {
    std::string out;
    bool code = false;
    for (const char c : words) {
      if (c == '`') code = !code;
      if (!code && std::string_view("*_<[]").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
    return out;
  }
};

std::string usage_of(const Command& c, const std::string& call) {
  std::string out = call;
  if (!c.run) return out + " COMMAND …";
  out += " [OPTIONS]";
  for (const Option& o : c.options) {
    const OptionNames names = names_in(o);
    if (names.place.empty()) continue;
    const bool many = std::holds_alternative<std::vector<std::string>*>(o.target);
    const std::string word = names.place + (many ? "…" : "");
    out += o.needed ? " " + word : fmt::format(" [{}]", word);
  }
  return out;
}

void write_options(const Command& c, Page& page) {
  for (const Option& o : all_options(c)) {
    const OptionNames names = names_in(o);
    const std::string value = value_name(o);
    page.item(names.dashed, names.dashed.empty() ? names.place : value, o.help + remark(o));
  }
}

/// Lines of a text that is set for a terminal, a paragraph for each sentence's end at a line's.
void write_footer(const std::string& footer, Page& page) {
  std::string paragraph;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    paragraph += (paragraph.empty() ? "" : " ") + line;
    if (!line.ends_with('.')) continue;
    page.paragraph(paragraph);
    paragraph.clear();
  }
  if (!paragraph.empty()) page.paragraph(paragraph);
}

std::string page_name(const Command& root, const Command& c) {
  return &c == &root ? root.name : root.name + "-" + c.name;
}

/// The page of the root or of a command right below it.
void write_page(const Command& root, const Command& c, Page& page) {
  const bool is_root = &c == &root;
  const std::string call = is_root ? root.name : root.name + " " + c.name;
  page.title(page_name(root, c), c.help.ends_with('.') ? c.help.substr(0, c.help.size() - 1) : c.help);
  page.section("synopsis");
  if (is_root) page.usage(root.name + " MODEL… [OPTIONS]");
  page.usage(usage_of(c, call));
  for (const Command& below : c.commands) {
    if (!is_root) page.usage(usage_of(below, call + " " + below.name));
  }
  page.section("options");
  write_options(c, page);
  if (!c.commands.empty()) page.section("commands");
  for (const Command& below : c.commands) {
    if (is_root) {
      page.item({below.name}, "", below.help);
    } else {
      page.subsection(call + " " + below.name);
      page.paragraph(below.help + ".");
      write_options(below, page);
    }
  }
  page.section("notes");
  write_footer(c.footer.empty() ? root.footer : c.footer, page);
  std::vector<std::string> others;
  if (!is_root) others.push_back(root.name);
  for (const Command& other : root.commands) {
    if (is_root) others.push_back(page_name(root, other));
  }
  page.see(others);
}

struct ManOptions {
  std::string command, date, folder;
  bool markdown = false;
};

std::string page_of(const Command& root, const Command& c, const ManOptions& o) {
  std::unique_ptr<Page> page;
  if (o.markdown) {
    page = std::make_unique<Markdown>();
  } else {
    page = std::make_unique<Roff>(o.date);
  }
  write_page(root, c, *page);
  return std::move(page->text);
}

int write_all_pages(const Command& root, const ManOptions& o) {
  if (::mkdir(o.folder.c_str(), 0777) != 0 && errno != EEXIST)
    return fail(kBadInput, fmt::format("{}: cannot make this folder: {}", o.folder, std::strerror(errno)));
  std::vector<const Command*> pages{&root};
  for (const Command& c : root.commands) pages.push_back(&c);
  for (const Command* c : pages) {
    auto out = Output::open(fmt::format("{}/{}.{}", o.folder, page_name(root, *c), o.markdown ? "md" : "1"));
    if (!out) return kBadInput;
    out->write(page_of(root, *c, o));
    if (!out->commit()) return kBadInput;
  }
  return kFine;
}

int run_man(const Command& root, const ManOptions& o) {
  if (!o.folder.empty()) {
    if (o.command.empty()) return write_all_pages(root, o);
    return fail(kBadUsage, "--all writes every page; leave the command out");
  }
  const Command* chosen = o.command.empty() ? &root : nullptr;
  for (const Command& c : root.commands) {
    if (c.name == o.command) chosen = &c;
  }
  if (!chosen) {
    const std::string near = did_you_mean(o.command, names_of(root.commands));
    return fail(kBadUsage, fmt::format("no command '{}'{}; `perfc --help` lists them", o.command,
                                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  auto out = Output::open("");
  out->write(page_of(root, *chosen, o));
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command man_command(const Command& root) {
  auto o = std::make_shared<ManOptions>();
  Command c{"man", "Print the manual page of perfc or of a command, for `man -l -`",
            [&root, o] { return run_man(root, *o); }};
  c.option("command", o->command, "Whose page [perfc's own]");
  c.option("--markdown", o->markdown, "As Markdown");
  c.option("--all", o->folder, "Write every page into this folder");
  c.option("--date", o->date, "The pages' date, as 2026-11-24 [none]");
  return c;
}

}  // namespace perfc::cli
