#pragma once
/// What pages are made of: html/assets/ and Debian's libjs-d3, as bytes in the program.
#include <string_view>

namespace perfc::assets {

std::string_view style();       ///< CSS of every page
std::string_view d3();          ///< D3, minified
std::string_view d3_licence();  ///< its copyright file

std::string_view report_body();    ///< markup that the scripts of a report fill …
std::string_view graph_section();  ///< … that of the graph …
std::string_view footer();         ///< … and what ends every page
std::string_view common();         ///< JavaScript: figures with units, elements, tooltips
std::string_view charts();         ///< … frames, axes, choices
std::string_view table();          ///< … a table that is sorted and searched
std::string_view graph();          ///< … the graph on a canvas
std::string_view roofline();       ///< … kernels under the device's roofs
std::string_view treemap();        ///< … modules by what they take
std::string_view memory();         ///< … over the execution order
std::string_view elsewhere();      ///< … other batches, devices, MIG profiles
std::string_view report();         ///< … puts a report together
std::string_view diff();           ///< … the graphs of a comparison

}  // namespace perfc::assets
