// SPDX-License-Identifier: GPL-2.0

package main

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server/filters"
)

type requestInfoAnswer struct {
	Error         bool     `json:"error,omitempty"`
	IsResource    bool     `json:"is_resource,omitempty"`
	IsLongRunning bool     `json:"is_long_running,omitempty"`
	Path          string   `json:"path,omitempty"`
	Verb          string   `json:"verb,omitempty"`
	APIPrefix     string   `json:"api_prefix,omitempty"`
	APIGroup      string   `json:"api_group,omitempty"`
	APIVersion    string   `json:"api_version,omitempty"`
	Namespace     string   `json:"namespace,omitempty"`
	Resource      string   `json:"resource,omitempty"`
	Subresource   string   `json:"subresource,omitempty"`
	Name          string   `json:"name,omitempty"`
	FieldSelector string   `json:"field_selector,omitempty"`
	LabelSelector string   `json:"label_selector,omitempty"`
	Parts         []string `json:"parts,omitempty"`
}

// A kube-apiserver's; the filter for priority and fairness admits watches
// nevertheless.
var isLongRunning = filters.BasicLongRunningRequestCheck(
	sets.NewString("watch", "proxy"),
	sets.NewString("attach", "exec", "proxy", "log", "portforward"))

// requestInfo compares what a request is, by its method and URL.
var requestInfo = &area[httpRequest, requestInfoAnswer]{
	name:    "request_info",
	draw:    drawRequest,
	answer:  answerRequestInfo,
	smaller: httpRequest.smaller,
	enough:  20000,
	wanted: []string{
		errNoURL.Error(), errNoResource.Error(), errWholeURL.Error(),
		errNUL.Error(),
		"path", "path with api prefix", "resource", "no known method",
		"verb get", "verb list", "verb watch", "verb create", "verb update",
		"verb patch", "verb delete", "verb deletecollection", "verb proxy",
		"watch before the resource", "namespace alone",
		"namespace with subresource", "subresource", "more parts",
		"name that a field selector gives", "field selector that gives none",
		"empty part", "% in the URL", "number that does not decode",
		"field selector that does not decode",
		"label selector that does not decode", "label selector that decodes",
		"field selector", "label selector", "long-running",
	},
}

func answerRequestInfo(c httpRequest) requestInfoAnswer {
	req, info, err := c.parse()
	if err != nil {
		met[err.Error()]++
		return requestInfoAnswer{Error: true}
	}
	long := isLongRunning(req, info) && info.Verb != "watch"
	if long {
		met["long-running"]++
	}
	countRequest(req, info)
	return describe(info, long)
}

func describe(info *apirequest.RequestInfo, long bool) requestInfoAnswer {
	a := requestInfoAnswer{
		IsResource:    info.IsResourceRequest,
		IsLongRunning: long,
		Path:          printable(info.Path),
		Verb:          info.Verb,
		APIPrefix:     info.APIPrefix,
		APIGroup:      printable(info.APIGroup),
		APIVersion:    printable(info.APIVersion),
		Namespace:     printable(info.Namespace),
		Resource:      printable(info.Resource),
		Subresource:   printable(info.Subresource),
		Name:          printable(info.Name),
		FieldSelector: printable(info.FieldSelector),
		LabelSelector: printable(info.LabelSelector),
	}
	for _, part := range info.Parts {
		a.Parts = append(a.Parts, printable(part))
	}
	return a
}

// countRequest says what kinds of requests there were.
func countRequest(req *http.Request, info *apirequest.RequestInfo) {
	count := func(kind string, is bool) {
		if is {
			met[kind]++
		}
	}
	parts := info.Parts
	count("% in the URL", strings.Contains(info.Path, "%"))
	count("empty part", strings.Contains(info.Path[1:], "//"))
	if !info.IsResourceRequest {
		count("path", info.APIPrefix == "")
		count("path with api prefix", info.APIPrefix != "")
		return
	}
	count("resource", true)
	count("verb "+info.Verb, info.Verb != "")
	count("no known method", info.Verb == "")
	count("watch before the resource", strings.Contains(info.Path, "/watch/") &&
		info.Verb == "watch" && req.URL.RawQuery == "")
	count("namespace alone", parts[0] == "namespaces" && len(parts) == 2)
	count("namespace with subresource", parts[0] == "namespaces" && len(parts) == 3)
	count("subresource", info.Subresource != "")
	count("more parts", len(parts) > 3)
	count("field selector", info.FieldSelector != "")
	count("label selector", info.LabelSelector != "")
	named := len(parts) > 1 && parts[1] != ""
	count("name that a field selector gives", !named && info.Name != "")
	count("field selector that gives none", info.Name == "" &&
		strings.Contains(info.FieldSelector, "metadata.name"))
	if !named && (info.Verb == "list" || info.Verb == "watch") {
		countUndecodable(req.URL.Query())
	}
}

// countUndecodable counts lists of which one option does not decode.
func countUndecodable(query url.Values) {
	_, limitDecodes := number(query, "limit")
	_, timeoutDecodes := number(query, "timeoutSeconds")
	_, labelsErr := labels.Parse(query.Get("labelSelector"))
	_, fieldsErr := fields.ParseSelector(query.Get("fieldSelector"))
	switch {
	case !limitDecodes || !timeoutDecodes:
		met["number that does not decode"]++
	case fieldsErr != nil:
		met["field selector that does not decode"]++
	case labelsErr != nil && query.Has("fieldSelector"):
		met["label selector that does not decode"]++
	case query.Has("labelSelector"):
		met["label selector that decodes"]++
	}
}

// number is the value of a parameter, if it is one.
func number(query url.Values, key string) (value int64, decodes bool) {
	if !query.Has(key) {
		return 0, true
	}
	value, err := strconv.ParseInt(query.Get(key), 10, 64)
	return value, err == nil
}
