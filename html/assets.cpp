#include "html/assets.h"

#include "ir/support/embed_bytes.h"

// A file's bytes, and the function that gives them. The folders are the build's (CMakeLists.txt).
#define PERFC_PAGE_ASSET(name, path)                                                                   \
  PERFC_EMBED_BYTES(perfc_page_##name, path);                                                          \
  std::string_view perfc::assets::name() {                                                             \
    return {perfc_page_##name, static_cast<std::size_t>(perfc_page_##name##_end - perfc_page_##name)}; \
  }

PERFC_PAGE_ASSET(style, PERFC_PAGE_ASSETS "/style.css")
PERFC_PAGE_ASSET(d3, PERFC_D3)
PERFC_PAGE_ASSET(d3_licence, PERFC_D3_LICENCE)
PERFC_PAGE_ASSET(report_body, PERFC_PAGE_ASSETS "/report.html")
PERFC_PAGE_ASSET(graph_section, PERFC_PAGE_ASSETS "/graph.html")
PERFC_PAGE_ASSET(footer, PERFC_PAGE_ASSETS "/footer.html")
PERFC_PAGE_ASSET(common, PERFC_PAGE_ASSETS "/common.js")
PERFC_PAGE_ASSET(charts, PERFC_PAGE_ASSETS "/charts.js")
PERFC_PAGE_ASSET(table, PERFC_PAGE_ASSETS "/table.js")
PERFC_PAGE_ASSET(graph, PERFC_PAGE_ASSETS "/graph.js")
PERFC_PAGE_ASSET(roofline, PERFC_PAGE_ASSETS "/roofline.js")
PERFC_PAGE_ASSET(treemap, PERFC_PAGE_ASSETS "/treemap.js")
PERFC_PAGE_ASSET(memory, PERFC_PAGE_ASSETS "/memory.js")
PERFC_PAGE_ASSET(elsewhere, PERFC_PAGE_ASSETS "/elsewhere.js")
PERFC_PAGE_ASSET(report, PERFC_PAGE_ASSETS "/report.js")
PERFC_PAGE_ASSET(diff, PERFC_PAGE_ASSETS "/diff.js")
