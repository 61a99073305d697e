# remy_plus_room(<name> <room it depends on>...): the target remy_plus_<name> of the folders src/<name> and
# include/remy_plus/<name>. A room of headers alone is an INTERFACE library.
#   LCCA_WERROR   warnings are errors
#   LCCA_IPO      link-time optimisation over all rooms and what links them
option(LCCA_WERROR "Treat compiler warnings as errors" OFF)
find_package(Threads REQUIRED)

get_filename_component(REMY_PLUS_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

function(remy_plus_room name)
  file(GLOB sources CONFIGURE_DEPENDS "${REMY_PLUS_ROOT}/src/${name}/*.cpp")
  file(GLOB headers CONFIGURE_DEPENDS "${REMY_PLUS_ROOT}/include/remy_plus/${name}/*.hpp")
  list(TRANSFORM ARGN PREPEND remy_plus_)
  set(target remy_plus_${name})
  if(sources)
    add_library(${target} STATIC ${sources} ${headers})
    set(scope PUBLIC)
    target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${LCCA_WERROR}>:-Werror>)
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON)
    if(LCCA_IPO)  # a generator expression would count as no
      set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
    endif()
  else()
    add_library(${target} INTERFACE ${headers})
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${REMY_PLUS_ROOT}/include")
  # Contracted multiply-adds differ between processors: results must not. No -march for the same reason.
  target_compile_options(${target} ${scope} -ffp-contract=off)
  target_link_libraries(${target} ${scope} Threads::Threads ${ARGN})
endfunction()
