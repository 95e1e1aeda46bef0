/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the virtual functions, by number: host and test are compiled from one header, so that another
 * order would show nowhere else but in a real host. The destructor has the first two places. */
#include "host.h"
#include "slots.h"

using namespace host;

using E = BackendEngine;

static void test_engine(void **)
{
    long at = 2;
    assert_int_equal(slot(&E::supportsRemote), at++);
    assert_int_equal(slot(&E::supportsLocal), at++);
    assert_int_equal(slot(&E::supportsNotif), at++);
    assert_int_equal(slot(&E::getSupportedMems), at++);
    assert_int_equal(slot(&E::registerMem), at++);
    assert_int_equal(slot(&E::deregisterMem), at++);
    assert_int_equal(slot(&E::connect), at++);
    assert_int_equal(slot(&E::disconnect), at++);
    assert_int_equal(slot(&E::unloadMD), at++);
    assert_int_equal(slot(&E::prepXfer), at++);
    assert_int_equal(slot(&E::postXfer), at++);
    assert_int_equal(slot(&E::checkXfer), at++);
    assert_int_equal(slot(&E::releaseReqH), at++);
    assert_int_equal(
        slot<Status (E::*)(const RemoteMetaList &, MemView &, const OptArgs *) const>(&E::prepMemView), at++);
    assert_int_equal(slot<Status (E::*)(const MetaList &, MemView &, const OptArgs *) const>(&E::prepMemView),
                     at++);
    assert_int_equal(slot(&E::releaseMemView), at++);
    assert_int_equal(slot(&E::getPublicData), at++);
    assert_int_equal(slot(&E::getConnInfo), at++);
    assert_int_equal(slot(&E::loadRemoteConnInfo), at++);
    assert_int_equal(slot(&E::loadRemoteMD), at++);
    assert_int_equal(slot(&E::loadLocalMD), at++);
    assert_int_equal(slot(&E::getNotifs), at++);
    assert_int_equal(slot(&E::genNotif), at++);
    assert_int_equal(slot(&E::queryMem), at++);
    assert_int_equal(slot(&E::estimateXferCost), at++);
    assert_int_equal(at, 27);
    assert_int_equal(slot(&E::failed), -1);
}

static void test_list(void **)
{
    assert_int_equal(slot(&MetaList::resize), 2);
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(test_engine), cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
