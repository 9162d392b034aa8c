"""The resources that a cluster has from the start, and those that its custom definitions add."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from noctule.kube.refusals import Refusal
from noctule.kube.store import Resource, Store

CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", namespaced=False)

_VERSION = re.compile(r"v[1-9]\d{0,3}((alpha|beta)[1-9]\d{0,3})?")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a resource is called, and what its objects can do."""

    group: str
    plural: str
    kind: str
    versions: tuple[str, ...] = ("v1",)
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    status: bool = True
    custom: bool = False
    singular: str = ""
    # of tables: name, priority, path
    columns: tuple[tuple[str, int, str], ...] = ()

    @property
    def list_kind(self) -> str:
        """What a list of them is called."""
        return f"{self.kind}List"

    def resource(self, version: str) -> Resource:
        """The resource in one of its versions."""
        return Resource(self.group, version, self.plural, self.namespaced)


# A group and its versions, the preferred first; then plural, kind, marks and short names of its
# resources: "-" is one of the cluster rather than of a namespace, "." one without a status.
_TABLE = """
core v1
  bindings Binding .
  configmaps ConfigMap . cm
  endpoints Endpoints . ep
  events Event . ev
  limitranges LimitRange . limits
  namespaces Namespace - ns
  nodes Node - no
  persistentvolumeclaims PersistentVolumeClaim pvc
  persistentvolumes PersistentVolume - pv
  pods Pod po
  podtemplates PodTemplate .
  replicationcontrollers ReplicationController rc
  resourcequotas ResourceQuota quota
  secrets Secret .
  serviceaccounts ServiceAccount . sa
  services Service svc
apps v1
  controllerrevisions ControllerRevision .
  daemonsets DaemonSet ds
  deployments Deployment deploy
  replicasets ReplicaSet rs
  statefulsets StatefulSet sts
autoscaling v2 v1
  horizontalpodautoscalers HorizontalPodAutoscaler hpa
batch v1
  cronjobs CronJob cj
  jobs Job
policy v1 v1beta1
  poddisruptionbudgets PodDisruptionBudget pdb
storage.k8s.io v1
  csidrivers CSIDriver - .
  csinodes CSINode - .
  csistoragecapacities CSIStorageCapacity .
  storageclasses StorageClass - . sc
  volumeattachments VolumeAttachment -
  volumeattributesclasses VolumeAttributesClass - . vac
scheduling.k8s.io v1 v1alpha2 v1alpha1
  podgroups PodGroup
  priorityclasses PriorityClass - . pc
  workloads Workload
resource.k8s.io v1 v1beta2 v1beta1 v1alpha3
  deviceclasses DeviceClass - .
  devicetaintrules DeviceTaintRule -
  resourceclaims ResourceClaim
  resourceclaimtemplates ResourceClaimTemplate .
  resourcepoolstatusrequests ResourcePoolStatusRequest -
  resourceslices ResourceSlice - .
coordination.k8s.io v1 v1beta1 v1alpha2
  leasecandidates LeaseCandidate .
  leases Lease .
discovery.k8s.io v1
  endpointslices EndpointSlice .
events.k8s.io v1 v1beta1
  events Event . ev
networking.k8s.io v1
  ingressclasses IngressClass - .
  ingresses Ingress ing
  networkpolicies NetworkPolicy . netpol
node.k8s.io v1
  runtimeclasses RuntimeClass - .
rbac.authorization.k8s.io v1
  clusterrolebindings ClusterRoleBinding - .
  clusterroles ClusterRole - .
  rolebindings RoleBinding .
  roles Role .
admissionregistration.k8s.io v1
  mutatingwebhookconfigurations MutatingWebhookConfiguration - .
  validatingadmissionpolicies ValidatingAdmissionPolicy -
  validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding - .
  validatingwebhookconfigurations ValidatingWebhookConfiguration - .
apiextensions.k8s.io v1
  customresourcedefinitions CustomResourceDefinition - crd crds
apiregistration.k8s.io v1
  apiservices APIService -
flowcontrol.apiserver.k8s.io v1
  flowschemas FlowSchema -
  prioritylevelconfigurations PriorityLevelConfiguration -
"""


def _built_in() -> dict[tuple[str, str], Kind]:
    known: dict[tuple[str, str], Kind] = {}
    group = ""
    versions: tuple[str, ...] = ()
    for line in _TABLE.strip().splitlines():
        words = line.split()
        if not line.startswith(" "):
            group, versions = ("" if words[0] == "core" else words[0]), tuple(words[1:])
            continue
        plural, kind, *marks = words
        known[group, plural] = Kind(
            group,
            plural,
            kind,
            versions,
            namespaced="-" not in marks,
            short_names=tuple(mark for mark in marks if mark.isalpha()),
            status="." not in marks,
            singular=kind.lower(),
        )
    return known


BUILT_IN = _built_in()
_GROUPS = frozenset(group for group, _ in BUILT_IN)


def find_kind(store: Store, group: str, version: str, plural: str) -> Kind:
    """The kind behind a path; a `Refusal` where there is none.

    Every version of a group of Kubernetes itself is served, since a scheduler that asks for one
    needs an empty list rather than an error that it retries forever.
    """
    kind = BUILT_IN.get((group, plural))
    if kind is not None and _VERSION.fullmatch(version):
        return kind
    definition = store.get(CRDS, f"{plural}.{group}")
    if definition is not None:
        kind = _custom(definition)
        if version in kind.versions:
            return kind
    raise Refusal(
        404,
        f"the server could not find the requested resource: there is no {plural} in "
        f"{group or 'the core group'} {version}"
        + ("" if group in _GROUPS else "; a CustomResourceDefinition would add it"),
    )


def kinds(store: Store) -> Iterator[Kind]:
    """All kinds, those of Kubernetes itself first."""
    yield from BUILT_IN.values()
    for definition in store.list(CRDS):
        yield _custom(definition)


class _Column(msgspec.Struct, rename="camel"):
    name: str = ""
    json_path: str = ""
    priority: int = 0


class _Version(msgspec.Struct, rename="camel"):
    name: str
    served: bool = True
    storage: bool = False
    subresources: dict[str, Any] | None = None
    additional_printer_columns: list[_Column] | None = None


class _Names(msgspec.Struct, rename="camel"):
    plural: Annotated[str, msgspec.Meta(min_length=1)]
    kind: Annotated[str, msgspec.Meta(min_length=1)]
    singular: str = ""
    short_names: list[str] | None = None


class Definition(msgspec.Struct):
    """The part of a CustomResourceDefinition that matters here: its `spec`."""

    group: Annotated[str, msgspec.Meta(min_length=1)]
    scope: Literal["Namespaced", "Cluster"]
    names: _Names
    versions: Annotated[list[_Version], msgspec.Meta(min_length=1)]


def _custom(definition: dict[str, Any]) -> Kind:
    spec = msgspec.convert(definition["spec"], Definition)
    names = spec.names
    served = [version for version in spec.versions if version.served]
    served.sort(key=lambda version: not version.storage)
    first = served[0] if served else spec.versions[0]
    return Kind(
        spec.group,
        names.plural,
        names.kind,
        tuple(version.name for version in served),
        namespaced=spec.scope == "Namespaced",
        short_names=tuple(names.short_names or ()),
        status="status" in (first.subresources or {}),
        custom=True,
        singular=names.singular or names.kind.lower(),
        columns=tuple(
            (column.name, column.priority, column.json_path)
            for column in first.additional_printer_columns or ()
        ),
    )
