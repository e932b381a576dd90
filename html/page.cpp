#include "html/page.h"

#include "html/assets.h"
#include "ir/support/markup.h"

namespace perfc {
namespace {

/// JSON that does not end its script element: `<` stands in strings alone, where it may be written as its code.
std::string in_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  return out;
}

void add_script(std::string_view code, std::string& out) {
  out += "<script>\n";
  out += code;
  out += "</script>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::string_view reference = character_reference(c);
    if (c == '\0') out += "\xEF\xBF\xBD";  // HTML has no such character
    else if (reference.empty()) out += c;
    else out += reference;
  }
  return out;
}

std::string to_string(const Page& p) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>" +
      html_text(p.title) + "</title>\n<style>\n";
  out += assets::style();
  out += "</style>\n</head>\n<body>\n";
  if (!p.plain.empty()) out += "<noscript><pre>" + html_text(p.plain) + "</pre></noscript>\n";
  out += p.body;
  out += assets::footer();
  out += "<script type=\"application/json\" id=\"data\">\n" + in_script(p.data) + "\n</script>\n";
  out += "<script type=\"text/plain\" id=\"d3-licence\">\n";
  out += assets::d3_licence();
  out += "</script>\n";
  add_script(assets::d3(), out);
  for (const std::string_view script : p.scripts) add_script(script, out);
  return out + "</body>\n</html>\n";
}

}  // namespace perfc
