#pragma once
/// Cases by which a model in C++ is held to its twin in a study: tables that the study wrote.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace perfc {

/// Calls read(fields) for each line of a table below the source directory, but for comments (#) and column names; what
/// it expects is reported with the line. Fails where a line has fewer fields than read takes.
/// Returns the number of lines.
template <class Read>
int for_each_study_case(const std::string& path, Read read) {
  std::ifstream in(PERFC_SOURCE_DIR "/" + path);
  EXPECT_TRUE(in) << path;
  std::string line;
  while (std::getline(in, line) && line.starts_with('#')) continue;
  int cases = 0;
  for (; std::getline(in, line); ++cases) {
    SCOPED_TRACE(line);
    std::istringstream fields(line);
    read(fields);
    EXPECT_TRUE(fields) << path << ": a line has too few fields";
  }
  return cases;
}

}  // namespace perfc
