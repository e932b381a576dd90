#pragma once
/// Comma-separated tables with a head line (RFC 4180): fields may be quoted,
/// quoted fields may hold commas, line ends and doubled quotes.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/diagnostics.h"

namespace perfc {

struct CsvTable {
  std::vector<std::string> head;
  struct Row {
    SourceLoc loc;                    ///< line on which the row begins
    std::vector<std::string> fields;  ///< of `parse_csv`: as many as `head`
  };
  std::vector<Row> rows;

  /// Index of a column by name.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// Refuses, with the line: an open quote, text after a closing quote, rows with
/// another number of fields than the head, a repeated column. Empty lines and a
/// byte-order mark are skipped.
Result<CsvTable> parse_csv(std::string_view text, Diagnostics&);

/// Rows without a head, of any number of fields. `first_line`: of the file that `text` is the rest of.
Result<std::vector<CsvTable::Row>> parse_csv_rows(std::string_view text, Diagnostics&, std::int32_t first_line = 1);

/// A field as it stands in a file: in quotes where it has to be.
std::string csv_field(std::string_view);
/// A field in quotes, whether it has to be or not.
std::string csv_quoted(std::string_view);

/// A whole decimal number without anything around it; empty: none.
std::optional<double> parse_number(std::string_view);

}  // namespace perfc
