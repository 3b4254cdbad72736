# SPDX-License-Identifier: Apache-2.0
# Tests are found by their file names; the folder is the label, exit 77 is a skip.
#	tests/{unit,algo,fault}/test_*.c   suites of cmocka tests (tests/suite.h), linked into one program a folder
#	tests/{cli,fault}/*.sh             scripts, run with the path of the program as $1 (lib.sh is their helper)
#
# To run one of them, after `cmake --preset dev && cmake --build build/dev -j2`:
#	ctest --preset dev -R '^algo/bfs$'            one entry; -L algo: all entries of a folder
#	build/dev/algo_tests bfs                      the same suite, with cmocka's own output
#	build/dev/algo_tests bfs.test_printed         one test; --list prints all names
#	gdb --args build/dev/algo_tests bfs.test_printed
#	bash tests/cli/usage.sh build/dev/millrace    one script
# ctest shares compiled kernels among builds: POCL_CACHE_DIR=build/pocl-cache does so by hand.
find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(IGRAPH IMPORTED_TARGET igraph)

# Kernels are the same in all builds: the first one that runs compiles them for all.
set(kernel_cache ${PROJECT_SOURCE_DIR}/build/pocl-cache)
set(test_environment POCL_CACHE_DIR=${kernel_cache} XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/cache MILL_SANITIZE=${MILL_SANITIZE}
	MILL_VID_BITS=${MILL_VID_BITS}
	LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0)
file(MAKE_DIRECTORY ${kernel_cache})

set(test_runner "")
if(MILL_SANITIZE MATCHES address)
	set(test_runner ${PROJECT_SOURCE_DIR}/cmake/again.sh)
endif()

function(mill_test folder name timeout)
	set_tests_properties(${folder}/${name} PROPERTIES LABELS ${folder} TIMEOUT ${timeout}
		SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment}")
endfunction()

# The suites of a folder are one program. test_oracle.c needs igraph and is left out without it.
foreach(folder unit algo fault)
	file(GLOB sources CONFIGURE_DEPENDS tests/${folder}/*.c)
	if(NOT IGRAPH_FOUND)
		list(FILTER sources EXCLUDE REGEX "/test_oracle\\.c$")
	endif()
	if(NOT sources)
		continue()
	endif()
	set(declarations "")
	set(rows "")
	set(suites "")
	foreach(source ${sources})
		cmake_path(GET source STEM name)
		if(name MATCHES "^test_(.*)")
			list(APPEND suites ${CMAKE_MATCH_1})
			string(APPEND declarations "extern const struct suite suite_${CMAKE_MATCH_1};\n")
			string(APPEND rows "\t&suite_${CMAKE_MATCH_1},\n")
		endif()
	endforeach()
	set(table ${PROJECT_BINARY_DIR}/generated/${folder}_suites.c)
	file(CONFIGURE OUTPUT ${table} @ONLY CONTENT
		"#include \"suite.h\"\n\n${declarations}\nconst struct suite *const suites[] = {\n${rows}\tNULL,\n};\n")
	add_executable(${folder}_tests tests/suite.c ${table} ${sources})
	target_include_directories(${folder}_tests PRIVATE tests)
	target_link_libraries(${folder}_tests PRIVATE mill_flags static ${CMOCKA_LIBRARY} m)
	if(folder STREQUAL fault)	# runs whole commands in its own process; fault/main.c renames their main
		target_sources(fault_tests PRIVATE $<FILTER:$<TARGET_OBJECTS:mill_cli>,EXCLUDE,cli/main>)
	endif()
	if(folder STREQUAL algo AND IGRAPH_FOUND)
		target_link_libraries(${folder}_tests PRIVATE PkgConfig::IGRAPH)
	endif()
	foreach(suite ${suites})
		add_test(NAME ${folder}/${suite} COMMAND ${test_runner} $<TARGET_FILE:${folder}_tests> ${suite})
		mill_test(${folder} ${suite} 1200)
	endforeach()
endforeach()

foreach(folder cli fault)
	file(GLOB scripts CONFIGURE_DEPENDS tests/${folder}/*.sh)
	foreach(script ${scripts})
		cmake_path(GET script STEM name)
		if(TARGET mill_cli AND NOT name STREQUAL lib)
			add_test(NAME ${folder}/${name} COMMAND bash ${script} $<TARGET_FILE:mill_cli>)
			mill_test(${folder} ${name} 1200)
		endif()
	endforeach()
endforeach()

if(TARGET mill_cli)
	# Transcripts can have their commands run by one process (one_process in tests/cli/lib.sh).
	add_executable(mill_in_process tests/cli/in_process.c tests/fault/main.c $<FILTER:$<TARGET_OBJECTS:mill_cli>,EXCLUDE,cli/main>)
	set_target_properties(mill_in_process PROPERTIES OUTPUT_NAME in_process)
	target_include_directories(mill_in_process PRIVATE tests)
	target_link_libraries(mill_in_process PRIVATE mill_flags static)
	# What README.md and docs/*.md show is run.
	if(NOT MILL_VID_BITS)
		add_test(NAME guide/documents COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/guide/documents.py
			$<TARGET_FILE:mill_cli> ${PROJECT_SOURCE_DIR})
		mill_test(guide documents 600)
	endif()
endif()

# Those that take minutes begin first, so that none of them is left alone at the end.
foreach(long cli/kernels cli/gts fault/host fault/device algo/views algo/repeats algo/graphie algo/damage algo/counts algo/edge_state algo/split)
	if(TEST ${long})
		set_tests_properties(${long} PROPERTIES COST 100)
	endif()
endforeach()

# The code of docs/writing-a-policy.md: every block begins with its file's name. tests/guide/policy.sh runs what it makes.
set(name policy)
set(guide docs/writing-a-policy.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${guide})
file(READ ${guide} guide_text)
string(REPLACE ";" "\\;" guide_text "${guide_text}")
string(REGEX MATCHALL "```c\n/\\* [a-z.]+ \\*/\n[^`]*```" guide_blocks "${guide_text}")
foreach(block IN LISTS guide_blocks)
	string(REGEX REPLACE "^```c\n/\\* ([a-z.]+) \\*/.*" "\\1" file "${block}")
	string(REGEX REPLACE "^```c\n(.*)```$" "\\1" text "${block}")
	file(CONFIGURE OUTPUT guide/${name}/${file} CONTENT "${text}" @ONLY)
	if(file MATCHES "\\.c$")
		list(APPEND guide_sources ${PROJECT_BINARY_DIR}/guide/${name}/${file})
	endif()
endforeach()
add_executable(guide_${name} ${guide_sources})
target_include_directories(guide_${name} PRIVATE ${PROJECT_BINARY_DIR}/guide/${name})
target_link_libraries(guide_${name} PRIVATE mill_flags static)
if(TARGET mill_cli AND NOT MILL_VID_BITS)
	add_test(NAME guide/${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/guide/${name}.sh $<TARGET_FILE:mill_cli>
		$<TARGET_FILE:guide_${name}> ${PROJECT_BINARY_DIR}/guide/${name})
	mill_test(guide ${name} 300)
endif()

# docs/writing-an-algorithm.md changes a copy of the tree, which the test builds.
if(TARGET mill_cli AND NOT MILL_VID_BITS)
	add_test(NAME guide/algorithm COMMAND bash ${PROJECT_SOURCE_DIR}/tests/guide/algorithm.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
	mill_test(guide algorithm 600)
endif()
