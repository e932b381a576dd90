#include "html/assets.h"

#include "ir/support/embed_bytes.h"

// The folders are the build's (CMakeLists.txt).
PERFC_EMBED_BYTES(perfc_page_style, PERFC_PAGE_ASSETS "/style.css");
PERFC_EMBED_BYTES(perfc_page_d3, PERFC_D3);
PERFC_EMBED_BYTES(perfc_page_d3_licence, PERFC_D3_LICENCE);
PERFC_EMBED_BYTES(perfc_page_report_body, PERFC_PAGE_ASSETS "/report.html");
PERFC_EMBED_BYTES(perfc_page_common, PERFC_PAGE_ASSETS "/common.js");
PERFC_EMBED_BYTES(perfc_page_charts, PERFC_PAGE_ASSETS "/charts.js");
PERFC_EMBED_BYTES(perfc_page_panels, PERFC_PAGE_ASSETS "/panels.js");
PERFC_EMBED_BYTES(perfc_page_treemap, PERFC_PAGE_ASSETS "/treemap.js");
PERFC_EMBED_BYTES(perfc_page_table, PERFC_PAGE_ASSETS "/table.js");
PERFC_EMBED_BYTES(perfc_page_graph, PERFC_PAGE_ASSETS "/graph.js");
PERFC_EMBED_BYTES(perfc_page_report, PERFC_PAGE_ASSETS "/report.js");

namespace perfc::assets {
namespace {
std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }
}  // namespace

#define PERFC_PAGE_ASSET(name) \
  std::string_view name() { return between(perfc_page_##name, perfc_page_##name##_end); }
PERFC_PAGE_ASSET(style)
PERFC_PAGE_ASSET(d3)
PERFC_PAGE_ASSET(d3_licence)
PERFC_PAGE_ASSET(report_body)
PERFC_PAGE_ASSET(common)
PERFC_PAGE_ASSET(charts)
PERFC_PAGE_ASSET(panels)
PERFC_PAGE_ASSET(treemap)
PERFC_PAGE_ASSET(table)
PERFC_PAGE_ASSET(graph)
PERFC_PAGE_ASSET(report)
#undef PERFC_PAGE_ASSET

}  // namespace perfc::assets
