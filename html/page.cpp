#include "html/page.h"

#include <cmath>

#include "html/assets.h"

namespace perfc {
namespace {

/// Text between tags.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\0':
        out += "\xEF\xBF\xBD";
        break;  // HTML has no such character
      default:
        out += c;
    }
  }
  return out;
}

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

double six_digits(double x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(x))));
  return std::isfinite(scale) && scale != 0 ? std::round(x * scale) / scale : x;
}

std::string to_string(const Page& p) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>" +
      escaped(p.title) + "</title>\n<style>\n";
  out += assets::style();
  out += "</style>\n</head>\n<body>\n";
  out += "<noscript><pre>" + escaped(p.plain) + "</pre></noscript>\n";
  out += p.body;
  out += "<script type=\"application/json\" id=\"data\">\n" + in_script(p.data) + "\n</script>\n";
  out += "<script type=\"text/plain\" id=\"d3-licence\">\n";
  out += assets::d3_licence();
  out += "</script>\n";
  add_script(assets::d3(), out);
  for (const std::string_view script : p.scripts) add_script(script, out);
  return out + "</body>\n</html>\n";
}

}  // namespace perfc
