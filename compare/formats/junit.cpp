#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>

#include "compare/formats/format.h"
#include "compare/formats/words.h"

namespace perfc {
namespace {

/// A test case of the suite.
tinyxml2::XMLElement* test_case(tinyxml2::XMLElement* suite, const std::string& about, std::string_view test) {
  tinyxml2::XMLElement* c = suite->GetDocument()->NewElement("testcase");
  c->SetAttribute("classname", about.c_str());
  c->SetAttribute("name", std::string(test).c_str());
  suite->InsertEndChild(c);
  return c;
}

void outcome(tinyxml2::XMLElement* of, const char* element, const std::string& message) {
  tinyxml2::XMLElement* e = of->GetDocument()->NewElement(element);
  e->SetAttribute("message", message.c_str());
  of->InsertEndChild(e);
}

}  // namespace

std::string diff_junit(const DiffReport& r) {
  tinyxml2::XMLDocument doc;
  doc.InsertEndChild(doc.NewDeclaration());
  tinyxml2::XMLElement* suite = doc.NewElement("testsuite");
  doc.InsertEndChild(suite);
  unsigned tests = 0, errors = 0, skipped = 0;
  const auto conclude =
      [&](tinyxml2::XMLElement* c, const ModelComparison& m, const OnDevice& on, std::string_view key) {
    ++tests;
    const auto found = std::ranges::find_if(r.findings, [&](const Finding& f) {
      return f.model == m.model && f.batch == m.batch && f.device == on.device && f.key() == key;
    });
    if (found == r.findings.end()) return;
    skipped += !found->acknowledged.empty();
    if (found->acknowledged.empty()) outcome(c, "failure", fmt::format("{}; allowed: {}", found->what, found->limit));
    else outcome(c, "skipped", fmt::format("{}; meant: {}", found->what, found->acknowledged));
  };
  for (const ModelComparison& m : r.comparison.models) {
    if (!m.error.empty()) {
      outcome(test_case(suite, m.model, "compare"), "error", m.error);
      ++tests, ++errors;
      continue;
    }
    for (const OnDevice& on : m.devices) {
      const std::string about = fmt::format("{} batch {} on {}", m.model, m.batch, on.device);
      for (const FigureChange& c : on.figures)
        conclude(test_case(suite, about, def(c.figure).key), m, on, def(c.figure).key);
      conclude(test_case(suite, about, "oom"), m, on, "oom");
    }
  }
  suite->SetAttribute("name", "perfc diff");
  suite->SetAttribute("tests", tests);
  suite->SetAttribute("failures", static_cast<unsigned>(r.failures()));
  suite->SetAttribute("errors", errors);
  suite->SetAttribute("skipped", skipped);
  tinyxml2::XMLPrinter printer;
  doc.Print(&printer);
  return printer.CStr();
}

}  // namespace perfc
