// SPDX-License-Identifier: GPL-2.0

package main

import (
	"iter"
	"math"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	etcdfeature "k8s.io/apiserver/pkg/storage/feature"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	flowcontrol "k8s.io/apiserver/pkg/util/flowcontrol/request"
	"k8s.io/component-base/featuregate"
)

type estimateCase struct {
	httpRequest
	Known    bool  `json:"known"`
	Stale    bool  `json:"stale"`
	Objects  int64 `json:"objects"`
	Bytes    int64 `json:"object_bytes"`
	Progress bool  `json:"reports_progress"`
	Watchers int64 `json:"watchers"`
	MaxSeats int64 `json:"max_seats"`
	ByCount  bool  `json:"by_count"`
}

type estimateAnswer struct {
	Initial uint64 `json:"initial_seats"`
	Final   uint64 `json:"final_seats"`
	Latency int64  `json:"additional_latency"`
}

// No request lingers longer in kapf.
const maxLatency = int64(60 * time.Second)

// asking is the case that the reference asks about, through what follows.
var asking estimateCase

// gates are the reference's, but for the one of the case.
type gates struct{ featuregate.FeatureGate }

func (g gates) Enabled(key featuregate.Feature) bool {
	if key == features.SizeBasedListCostEstimate {
		return !asking.ByCount
	}
	return g.FeatureGate.Enabled(key)
}

// etcd is one that does, or does not, tell how far a watch is.
type etcd struct {
	etcdfeature.FeatureSupportChecker
}

func (etcd) Supports(storage.Feature) bool { return asking.Progress }

func countObjects(string) (storage.Stats, error) {
	stats := storage.Stats{
		ObjectCount:                     asking.Objects,
		EstimatedAverageObjectSizeBytes: asking.Bytes,
	}
	switch {
	case !asking.Known:
		return storage.Stats{}, flowcontrol.ObjectCountNotFoundErr
	case asking.Stale:
		return stats, flowcontrol.ObjectCountStaleErr
	}
	return stats, nil
}

// estimators are those by size and by count.
var estimators = map[bool]flowcontrol.WorkEstimatorFunc{}

func init() {
	utilfeature.DefaultFeatureGate = gates{utilfeature.DefaultFeatureGate}
	etcdfeature.DefaultFeatureSupportChecker = etcd{}
	for _, asking.ByCount = range []bool{false, true} {
		estimators[asking.ByCount] = flowcontrol.NewWorkEstimator(countObjects,
			func(*apirequest.RequestInfo) int { return int(asking.Watchers) },
			flowcontrol.DefaultWorkEstimatorConfig(),
			func(string) uint64 { return uint64(asking.MaxSeats) })
	}
}

// estimate compares the work of requests.
var estimate = &area[estimateCase, estimateAnswer]{
	name:   "estimate",
	draw:   drawEstimate,
	answer: answerEstimate,
	enough: 20000,
	smaller: func(c estimateCase) iter.Seq[estimateCase] {
		return func(yield func(estimateCase) bool) {
			for shorter := range c.httpRequest.smaller() {
				s := c
				s.httpRequest = shorter
				if !yield(s) {
					return
				}
			}
			for _, value := range []func(*estimateCase) *int64{
				func(c *estimateCase) *int64 { return &c.Objects },
				func(c *estimateCase) *int64 { return &c.Bytes },
				func(c *estimateCase) *int64 { return &c.Watchers },
			} {
				s := c
				*value(&s) /= 2
				if *value(&c) != 0 && !yield(s) {
					return
				}
			}
		}
	},
	wanted: []string{
		"list by size", "list by count", "watch by size", "watch by count",
		"refused", "not known", "stale", "size not known", "no objects",
		"by name", "selector", "limit", "limit beyond the objects",
		"options that do not decode", "continue", "any version", "no version",
		"some version", "exact", "not older than", "odd match",
		"initial events", "etcd reports progress", "etcd reports none",
		"a level without queues", "the cap bounds", "MaxSeats bounds",
		"between the bounds", "1 seat", "product beyond 64 bits, which only kapf bounds",
		"create", "update", "patch", "delete", "deletecollection", "token",
		"few watchers", "10 watchers", "all final seats", "fewer final seats",
		"latency that only kapf bounds",
	},
}

// drawList makes a list or a watch, with options that matter.
func drawList(r *rand.Rand) httpRequest {
	query := url.Values{}
	sometimes := func(n int, key string, values ...string) {
		if in(r, n) {
			query.Set(key, pick(r, values...))
		}
	}
	sometimes(3, "watch", "true", "1", "false")
	sometimes(2, "limit", "0", "1", "100", "500", "1000", drawNumber(r))
	sometimes(2, "resourceVersion", "", "0", "0", "1234", "00")
	sometimes(4, "resourceVersionMatch", "", "Exact", "NotOlderThan", "exact")
	sometimes(5, "continue", "", "token")
	sometimes(5, "sendInitialEvents", "true", "", "1", "false", "0", "falſe")
	sometimes(5, "labelSelector", "", "app=a", drawLabels(r))
	sometimes(5, "fieldSelector", "", "metadata.name=a", "spec.nodeName=n", drawFields(r))
	sometimes(15, "timeoutSeconds", drawNumber(r))
	path := pick(r, "/api/v1/pods", "/api/v1/namespaces/a/pods",
		"/apis/apps/v1/deployments", "/api/v1/watch/pods", "/api/v1/pods//log")
	return httpRequest{pick(r, "GET", "GET", "HEAD"), path + "?" + query.Encode()}
}

// drawChange makes a request whose watchers count, or nearly.
func drawChange(r *rand.Rand) httpRequest {
	return httpRequest{
		pick(r, "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
		pick(r, "/api/v1/pods", "/api/v1/namespaces/a/configmaps/c") +
			pick(r, "", "", "/x", "/api/v1/serviceaccounts/s/token"),
	}
}

// drawAmount makes a number of any magnitude below two to the power of bits.
func drawAmount(r *rand.Rand, bits int) int64 {
	return r.Int64N(1 << r.IntN(bits))
}

// drawEdge makes a list that is at the edge of a seat, by one byte or object.
func drawEdge(r *rand.Rand, c *estimateCase) {
	c.Known, c.Stale, c.MaxSeats = true, false, 0
	if in(r, 2) {
		c.URL = "/api/v1/pods"
	}
	seats := 1 + r.Int64N(100)
	c.Objects = pick[int64](r, 1, 1, 2, 10, 100)
	c.Bytes = seats*100000/c.Objects - 1 + r.Int64N(3)
	if c.ByCount {
		c.Objects = pick[int64](r, 50, 100)*(1+seats%10) - 1 + r.Int64N(3)
	}
}

func drawEstimate(r *rand.Rand) estimateCase {
	c := estimateCase{
		Known:    !in(r, 10),
		Stale:    in(r, 10),
		Progress: in(r, 2),
		ByCount:  in(r, 2),
		Objects:  drawAmount(r, pick(r, 12, 12, 20, 40)),
		Bytes:    drawAmount(r, pick(r, 12, 12, 20, 40)),
	}
	if in(r, 10) {
		c.Bytes = 0
	}
	if !in(r, 3) {
		c.MaxSeats = 1 + drawAmount(r, 8)
	}
	switch r.IntN(8) {
	case 0:
		c.httpRequest = drawRequest(r)
	case 1, 2:
		c.httpRequest = drawChange(r)
		c.Watchers = drawAmount(r, 24)
		if in(r, 8) {
			c.Watchers = 9 + r.Int64N(3)
		}
		if in(r, 4) {
			c.URL = strings.Replace(c.URL, "/pods/", "/serviceaccounts/", 1) + "/token"
		}
	case 3:
		c.httpRequest = drawList(r)
		drawEdge(r, &c)
	default:
		c.httpRequest = drawList(r)
	}
	return c
}

func answerEstimate(c estimateCase) estimateAnswer {
	req, info, err := c.parse()
	if err != nil {
		met["refused"]++
		return estimateAnswer{}
	}
	asking = c
	if c.Objects > 0 && c.Bytes > math.MaxInt64/c.Objects {
		asking.Bytes = math.MaxInt64 / c.Objects
		met["product beyond 64 bits, which only kapf bounds"]++
	}
	work := estimators[c.ByCount].EstimateWork(
		req.WithContext(apirequest.WithRequestInfo(req.Context(), info)), "", "")
	a := estimateAnswer{work.InitialSeats, work.FinalSeats,
		int64(work.AdditionalLatency)}
	countEstimate(c, req.URL.Query(), info, a)
	if a.Latency > maxLatency {
		met["latency that only kapf bounds"]++
		a.Latency = maxLatency
	}
	return a
}

// countEstimate says what kinds of cases there were.
func countEstimate(c estimateCase, query url.Values, info *apirequest.RequestInfo, a estimateAnswer) {
	by := " by size"
	if c.ByCount {
		by = " by count"
	}
	switch info.Verb {
	case "list", "watch":
		met[info.Verb+by]++
		countList(c, query, info, a)
	case "create", "update", "patch", "delete", "deletecollection":
		met[info.Verb]++
		countChange(c, info, a)
	}
}

func countList(c estimateCase, query url.Values, info *apirequest.RequestInfo, a estimateAnswer) {
	count := func(kind string, is bool) {
		if is {
			met[kind]++
		}
	}
	cap := uint64(100)
	if c.ByCount {
		cap = 10
	}
	limit, decodes := number(query, "limit")
	version, match := query.Get("resourceVersion"), query.Get("resourceVersionMatch")
	count("options that do not decode", !decodes)
	count("not known", decodes && !c.Known)
	if !decodes || !c.Known {
		return
	}
	count("stale", c.Stale)
	count("size not known", c.Bytes == 0 && c.Objects > 0 && !c.Stale)
	count("no objects", c.Objects == 0 && !c.Stale)
	count("by name", info.Name != "")
	count("selector", query.Get("fieldSelector")+query.Get("labelSelector") != "")
	count("limit", limit > 0 && limit < c.Objects)
	count("limit beyond the objects", limit > c.Objects)
	count("continue", query.Get("continue") != "" && match == "")
	count("any version", version == "0")
	count("no version", version == "")
	count("some version", version != "" && version != "0")
	count("exact", match == "Exact")
	count("not older than", match == "NotOlderThan")
	count("odd match", match == "exact")
	count("initial events", info.Verb == "watch" && version == "1234" &&
		query.Get("sendInitialEvents") == "true")
	plain := info.Verb == "list" && len(query) == 0
	count("etcd reports progress", plain && c.Progress)
	count("etcd reports none", plain && !c.Progress)
	count("a level without queues", c.MaxSeats == 0)
	count("the cap bounds", a.Initial == cap)
	count("MaxSeats bounds", a.Initial == uint64(c.MaxSeats) && a.Initial > 1)
	count("1 seat", a.Initial == 1)
	count("between the bounds", a.Initial > 1 && a.Initial < cap &&
		a.Initial != uint64(c.MaxSeats))
}

func countChange(c estimateCase, info *apirequest.RequestInfo, a estimateAnswer) {
	switch {
	case info.Resource == "serviceaccounts" && info.Subresource == "token":
		met["token"]++
	case c.Watchers < 10:
		met["few watchers"]++
	case c.Watchers == 10:
		met["10 watchers"]++
	case a.Final == uint64(c.Watchers+9)/10:
		met["all final seats"]++
	case a.Final > 0:
		met["fewer final seats"]++
	}
}
