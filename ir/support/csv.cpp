#include "ir/support/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace perfc {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Reads the fields of one row; leaves `at` behind its line end.
class RowReader {
 public:
  RowReader(std::string_view text, Diagnostics& diags, std::int32_t first_line)
      : text_(text), diags_(diags), line_(first_line) {}

  bool done() const { return at_ >= text_.size(); }
  std::int32_t line() const { return line_; }

  Result<std::vector<std::string>> next() {
    std::vector<std::string> fields(1);
    bool quoted = false, closed = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (quoted) {
        if (c != '"') fields.back() += c;
        else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') fields.back() += text_[++at_];
        else quoted = false, closed = true;
      } else if (c == ',') {
        fields.emplace_back();
        closed = false;
      } else if (c == '\n') {
        ++at_;
        return fields;
      } else if (c == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n')) {
        continue;
      } else if (closed) {
        return diags_.error({.line = line_}, {}, "text after a closing quote");
      } else if (c == '"' && fields.back().empty()) {
        quoted = true;
      } else {
        fields.back() += c;
      }
    }
    if (quoted) return diags_.error({.line = line_}, {}, "the file ends inside quotes");
    return fields;
  }

 private:
  std::string_view text_;
  Diagnostics& diags_;
  std::size_t at_ = 0;
  std::int32_t line_;
};

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(head.begin(), head.end(), name);
  if (found == head.end()) return {};
  return static_cast<std::size_t>(found - head.begin());
}

Result<std::vector<CsvTable::Row>> parse_csv_rows(std::string_view text, Diagnostics& diags, std::int32_t first_line) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<CsvTable::Row> rows;
  RowReader reader(text, diags, first_line);
  while (!reader.done()) {
    const std::int32_t line = reader.line();
    auto fields = reader.next();
    if (!fields) return Failure{};
    if (fields->size() == 1 && fields->front().empty()) continue;
    rows.push_back({{.line = line}, std::move(*fields)});
  }
  return rows;
}

Result<CsvTable> parse_csv(std::string_view text, Diagnostics& diags) {
  auto rows = parse_csv_rows(text, diags);
  if (!rows) return Failure{};
  if (rows->empty()) return diags.error("no head line with column names");
  CsvTable table;
  table.head = std::move(rows->front().fields);
  auto sorted = table.head;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return diags.error(rows->front().loc, {}, "column '" + *twice + "' occurs twice");
  for (auto row = rows->begin() + 1; row != rows->end(); ++row) {
    if (row->fields.size() != table.head.size()) {
      return diags.error(
          row->loc, {},
          std::to_string(row->fields.size()) + " fields, but the head has " + std::to_string(table.head.size()));
    }
  }
  rows->erase(rows->begin());
  table.rows = std::move(*rows);
  return table;
}

std::string csv_field(std::string_view text) {
  return text.find_first_of(",\"\r\n") == std::string_view::npos ? std::string(text) : csv_quoted(text);
}

std::string csv_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::optional<double> parse_number(std::string_view text) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(v)) return {};
  return v;
}

}  // namespace perfc
