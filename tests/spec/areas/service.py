"""The daemon as a service of the user's own, and how a person takes all of it back."""

from tests.spec.model import Requirement, design, required

SERVICE = design("Service files")
PERSON = design("The person decides")

REQUIREMENTS: tuple[Requirement, ...] = (
    required("service.unit.verified", SERVICE, "systemd-analyze verify has nothing to say about the unit."),
    required("service.unit.exposure", SERVICE, "The unit's exposure stays below the ceiling that the docs record."),
    required(
        "service.unit.bounds",
        SERVICE,
        "The unit is of type notify, has a watchdog, stays behind other work, and stops trying one day; status 78 is "
        "not tried again.",
    ),
    required("service.unit.starts", SERVICE, "A user's systemd starts the unit as it is written, whatever the paths."),
    required("service.unit.killed", SERVICE, "A daemon that is killed, or hangs, is started again."),
    required("service.notify", SERVICE, "READY, WATCHDOG, RELOADING and STOPPING reach the manager as datagrams."),
    required("service.agent.keys", SERVICE, "Every key of the launchd agent is what launchd knows and means."),
    required(
        "service.install",
        SERVICE,
        "`service install` writes, loads and starts; again without a change it does nothing, with one it starts anew.",
    ),
    required("service.print", SERVICE, "`service install --print` shows the file and changes nothing."),
    required(
        "service.environment",
        SERVICE,
        "What the environment sets is carried over into the service's file; a secret never is.",
    ),
    required("service.absent", SERVICE, "Where there is no manager to ask, one line says so and what to do instead."),
    required("service.status", SERVICE, "`service status` says whether it runs, and why not."),
    required("service.logs", SERVICE, "`service logs` shows the log, and goes on with --follow."),
    required("service.uninstall", SERVICE, "`service uninstall` leaves nothing of the service, and nothing else."),
    required("uninstall.keeps", PERSON, "`uninstall` takes service and settings away and keeps what was learned."),
    required("uninstall.asks", PERSON, "Nothing is deleted before a clear question is answered, or --yes is said."),
    required("uninstall.purge", PERSON, "`uninstall --purge` deletes the home folder."),
    required(
        "uninstall.foreign",
        PERSON,
        "A folder that is no home of ours is refused; what others put into a home stays, and links are not followed.",
    ),
)
