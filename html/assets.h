#pragma once
/// What pages are made of: html/assets/ and Debian's libjs-d3, as bytes in the program.
#include <string_view>

namespace perfc::assets {

std::string_view style();        ///< CSS of every page
std::string_view d3();           ///< D3, minified
std::string_view d3_licence();   ///< its copyright file
std::string_view report_body();  ///< markup that the scripts of a report fill
std::string_view common();       ///< JavaScript: figures with units, elements, tooltips
std::string_view charts();       ///< … lines, points and areas
std::string_view treemap();      ///< … the treemap
std::string_view panels();       ///< … the roofline, memory, batches, MIG profiles and devices
std::string_view table();        ///< … a table that is sorted and searched
std::string_view graph();        ///< … the graph on a canvas
std::string_view report();       ///< … puts a report together

}  // namespace perfc::assets
