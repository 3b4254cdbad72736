# SPDX-License-Identifier: Apache-2.0
# cmake -DMANIFEST=... -P uninstall.cmake: removes the files of the last installation, below
# DESTDIR if it is set.
if(NOT EXISTS ${MANIFEST})
	message(FATAL_ERROR "nothing was installed from here: ${MANIFEST} does not exist")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file ${files})
	set(file $ENV{DESTDIR}${file})
	if(EXISTS ${file} OR IS_SYMLINK ${file})
		file(REMOVE ${file})
		message(STATUS "removed ${file}")
	endif()
endforeach()
