# cmake -DFROM=FILE -DTO=FILE -DOLD=TEXT -DNEW=TEXT -P plant.cmake: FROM with a
# fault in it.  That OLD is not there is an error: the plant must be mended too.
# ~ stands for ; in both texts.
file(READ ${FROM} text)
string(REPLACE ";" "~" text "${text}")
string(FIND "${text}" "${OLD}" at)
if(at EQUAL -1)
    message(FATAL_ERROR "${FROM} has no \"${OLD}\"")
endif()
string(REPLACE "${OLD}" "${NEW}" text "${text}")
string(REPLACE "~" ";" text "${text}")
file(WRITE ${TO} "${text}")
