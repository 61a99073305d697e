# SPDX-License-Identifier: GPL-2.0-only
# Finds stock ns-3 and makes the target lcca_ns3_stock. ns-3's own CMake package is not used: it names folders of the
# machine it was built on.
if(LCCA_NS3_ROOT)
  set(LCCA_NS3_GIVEN TRUE)
else()
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
            "import importlib.metadata as m; print(m.distribution('ns3').locate_file('ns3'))"
    OUTPUT_VARIABLE LCCA_NS3_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT LCCA_NS3_ROOT)
  set(LCCA_NS3_ROOT /usr)
endif()

file(GLOB LCCA_NS3_CORE "${LCCA_NS3_ROOT}/lib*/libns3*-core.so" "${LCCA_NS3_ROOT}/lib/*/libns3*-core.so")
if(NOT LCCA_NS3_CORE)
  message(FATAL_ERROR "ns-3 is not there: pip install --no-deps ns3==3.44.post0, or give LCCA_NS3_ROOT")
endif()
list(GET LCCA_NS3_CORE 0 LCCA_NS3_CORE)
get_filename_component(LCCA_NS3_LIBRARY_DIR "${LCCA_NS3_CORE}" DIRECTORY)
if(LCCA_NS3_GIVEN)
  set(LCCA_NS3_RPATH ";${LCCA_NS3_LIBRARY_DIR}")
endif()
# The version is in the libraries' names (PyPI) or in what pkg-config reads (Debian).
string(REGEX MATCH "libns(3[.][0-9.]*[0-9])" _ "${LCCA_NS3_CORE}")
set(LCCA_NS3_VERSION "${CMAKE_MATCH_1}")
if(NOT LCCA_NS3_VERSION)
  file(GLOB LCCA_NS3_PC "${LCCA_NS3_LIBRARY_DIR}/pkgconfig/*ns3*core.pc")
  if(LCCA_NS3_PC)
    list(GET LCCA_NS3_PC 0 LCCA_NS3_PC)
    file(STRINGS "${LCCA_NS3_PC}" LCCA_NS3_VERSION REGEX "^Version:")
    string(REGEX REPLACE "^Version: *(3-dev|[0-9.]+).*" "\\1" LCCA_NS3_VERSION "${LCCA_NS3_VERSION}")
  endif()
endif()
file(GLOB LCCA_NS3_INCLUDE "${LCCA_NS3_ROOT}/include" "${LCCA_NS3_ROOT}/include/ns${LCCA_NS3_VERSION}")
list(REMOVE_ITEM LCCA_NS3_INCLUDE /usr/include)  # searched anyway, and not to be moved in the order of searching
list(FILTER LCCA_NS3_INCLUDE EXCLUDE REGEX "/ns3$")
message(STATUS "ns-${LCCA_NS3_VERSION}: ${LCCA_NS3_LIBRARY_DIR}")

add_library(lcca_ns3_stock INTERFACE)
target_include_directories(lcca_ns3_stock SYSTEM INTERFACE ${LCCA_NS3_INCLUDE})
target_compile_definitions(lcca_ns3_stock INTERFACE
  NS3_LOG_ENABLE NS3_ASSERT_ENABLE LCCA_NS3_VERSION="${LCCA_NS3_VERSION}")
foreach(part core network internet traffic-control)
  string(REPLACE "-core.so" "-${part}.so" library "${LCCA_NS3_CORE}")
  target_link_libraries(lcca_ns3_stock INTERFACE "${library}")
endforeach()
target_link_options(lcca_ns3_stock INTERFACE -Wl,--allow-shlib-undefined)
