# SPDX-License-Identifier: Apache-2.0
# Tests are found by their names:
#	tests/{unit,algo}/test_*.c   one program each, linked with the static library, cmocka and the
#	                             other .c files of the folder; test_oracle.c with igraph too
#	tests/{cli,fault}/*.sh       run with the path of the program as $1 (lib.sh is their helper)
# Exit 77 is a skip. The folder is the label.
find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(IGRAPH IMPORTED_TARGET igraph)

set(test_environment POCL_CACHE_DIR=${PROJECT_BINARY_DIR}/pocl-cache MILL_SANITIZE=${MILL_SANITIZE}
	MILL_VID_BITS=${MILL_VID_BITS}
	LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/pocl-cache)

function(mill_test folder name timeout)
	set_tests_properties(${folder}/${name} PROPERTIES LABELS ${folder} TIMEOUT ${timeout}
		SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment}")
endfunction()

foreach(folder unit algo)
	file(GLOB helpers CONFIGURE_DEPENDS tests/${folder}/*.c)
	file(GLOB programs CONFIGURE_DEPENDS tests/${folder}/test_*.c)
	list(REMOVE_ITEM helpers ${programs} "")
	if(helpers)
		add_library(mill_${folder}_helpers OBJECT ${helpers})
		target_include_directories(mill_${folder}_helpers PRIVATE tests)
		target_link_libraries(mill_${folder}_helpers PRIVATE mill_flags)
	endif()
	foreach(source ${programs})
		cmake_path(GET source STEM name)
		string(REGEX REPLACE "^test_" "" short ${name})
		if(short STREQUAL oracle AND NOT IGRAPH_FOUND)
			message(STATUS "no igraph: ${folder}/${name} is left out")
			continue()
		endif()
		add_executable(${folder}_${name} ${source})
		target_include_directories(${folder}_${name} PRIVATE tests)
		target_link_libraries(${folder}_${name} PRIVATE mill_flags static ${CMOCKA_LIBRARY} m)
		if(helpers)
			target_link_libraries(${folder}_${name} PRIVATE mill_${folder}_helpers)
		endif()
		if(short STREQUAL oracle)
			target_link_libraries(${folder}_${name} PRIVATE PkgConfig::IGRAPH)
		endif()
		add_test(NAME ${folder}/${short} COMMAND ${folder}_${name})
		mill_test(${folder} ${short} 1200)
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
