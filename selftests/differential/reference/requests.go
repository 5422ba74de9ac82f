// SPDX-License-Identifier: GPL-2.0

package main

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/klog/v2"
)

// httpRequest is a case, or a part of one: a request as it comes over the wire.
type httpRequest struct {
	Method string `json:"method"`
	URL    string `json:"url"`
}

// A kube-apiserver's.
var resolver = apirequest.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

func init() {
	// Nobody reads what it says of options that do not decode.
	klog.SetLogger(klog.Logger{})
}

// Why there is nothing to be answered of a request; the last two only for kapf:
// servers have taken scheme and host away, and C's strings end at a NUL.
var (
	errNoURL      = errors.New("no URL")
	errNoResource = errors.New("no resource after the verb")
	errWholeURL   = errors.New("scheme before the path, which only kapf refuses")
	errNUL        = errors.New("%00, which only kapf refuses")
)

// parse is what the reference's server makes of a request.
func (c httpRequest) parse() (*http.Request, *apirequest.RequestInfo, error) {
	u, err := url.ParseRequestURI(c.URL)
	if err != nil {
		return nil, nil, errNoURL
	}
	req := &http.Request{Method: c.Method, URL: u}
	info, err := resolver.NewRequestInfo(req)
	switch {
	case err != nil:
		err = errNoResource
	case u.Scheme != "":
		err = errWholeURL
	case strings.Contains(c.URL, "%00"):
		err = errNUL
	}
	return req, info, err
}

func pick[T any](r *rand.Rand, list ...T) T {
	return list[r.IntN(len(list))]
}

// in says yes once in n times.
func in(r *rand.Rand, n int) bool {
	return r.IntN(n) == 0
}

func drawMethod(r *rand.Rand) string {
	if !in(r, 4) {
		return pick(r, "GET", "GET", "GET", "POST", "PUT", "PATCH", "DELETE")
	}
	return pick(r, "HEAD", "OPTIONS", "CONNECT", "TRACE", "get", "Delete",
		"WATCH", "PROXY", "LIST", "M-SEARCH")
}

var (
	resources = []string{"pods", "nodes", "secrets", "configmaps", "leases",
		"serviceaccounts", "deployments", "events", "namespaces", "watch",
		"proxy", "things"}
	subresources = []string{"status", "log", "exec", "attach", "portforward",
		"proxy", "token", "scale", "finalize", "binding"}
	objects = []string{"a", "coredns-7d4", "my.name", "x:y@z", "..", "%41",
		"0", "system%3Akube", "w%C3%BCrfel", "würfel", "%ff", "a+b",
		"100%25", "a%2Fb", "%2F", "%2e%2E", "watch", "status", "apis"}
	namespaces = []string{"kube-system", "default", "ci", "team-a", "n%2fm", "status"}
	groups     = []string{"apps", "batch", "coordination.k8s.io", "metrics.k8s.io",
		"rbac.authorization.k8s.io", "api", "%61pps"}
	otherPaths = []string{"/", "//", "/healthz", "/healthz/etcd", "/livez",
		"/readyz/ping", "/version", "/metrics", "/api", "/apis", "/api/v1",
		"/apis/apps", "/apis/apps/v1", "/openapi/v3/apis", "/debug/pprof/",
		"/debug/pprof/heap", "/debug/pprof", "/debug/flags/v", "/API/v1/pods",
		"/apix/v1/pods", "/logs/a/b/c/d", "*", "/api/v1/watch",
		"/apis/apps/v1/proxy/", "/a/api/v1/pods"}
)

func drawPath(r *rand.Rand) string {
	var path string

	switch {
	case in(r, 6):
		return pick(r, otherPaths...)
	case in(r, 2):
		path = "/api/v1"
	default:
		path = "/apis/" + pick(r, groups...) + "/" + pick(r, "v1", "v2beta1")
	}
	if in(r, 8) {
		path += "/" + pick(r, "watch", "proxy")
	}
	if in(r, 2) {
		path += "/namespaces"
		if !in(r, 8) {
			path += "/" + pick(r, namespaces...)
		}
		if in(r, 8) {
			path += "/" + pick(r, "status", "finalize")
		}
	}
	if !in(r, 6) {
		path += "/" + pick(r, resources...)
		if in(r, 2) {
			path += "/" + pick(r, objects...)
			if in(r, 2) {
				path += "/" + pick(r, subresources...)
			}
			if in(r, 8) {
				path += "/" + pick(r, objects...) + "/more"
			}
		}
	}
	return path
}

// damage makes something odd of a URL.
func damage(r *rand.Rand, u string) string {
	at := r.IntN(len(u) + 1)
	odd := pick(r, "/", "//", "%2F", "%", "%4", "%zz", "%00", "\x01", "\x7f",
		" ", "+", "#", ";", "&", "?", "=", ":", "\\", "é", "%e2%82%AC", "%80")
	switch r.IntN(4) {
	case 0:
		return u + pick(r, "/", "//", "?", "&", "#x")
	case 1:
		if at < len(u) {
			return u[:at] + u[at+1:]
		}
		return u
	case 2:
		if at < len(u) && u[at] < 0x80 {
			return u[:at] + fmt.Sprintf(pick(r, "%%%02x", "%%%02X"), u[at]) + u[at+1:]
		}
		return u
	}
	return u[:at] + odd + u[at:]
}

func drawBool(r *rand.Rand) string {
	return pick(r, "true", "1", "false", "0", "False", "FALSE", "", "00",
		"no", "falſe", "f")
}

func drawNumber(r *rand.Rand) string {
	if !in(r, 6) {
		return fmt.Sprint(r.IntN(10) * r.IntN(1000))
	}
	return pick(r, "", "-1", "+7", "-0", "00012", "1_000", "0x10", "1e3", " 1",
		"1.5", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "ten", "+", "-")
}

// drawWord is a label's key or value, or nearly one.
func drawWord(r *rand.Rand) string {
	return pick(r, "app", "tier", "a", "in", "notin", "x.io/y", "A_b-c.D", "1",
		"9223372036854775807", "9223372036854775808", "-a", "a-", "x/y/z",
		"/a", "a/", "X.io/y", "é", strings.Repeat("l", 63),
		strings.Repeat("m", 64), strings.Repeat("s.", 126)+"s/k",
		strings.Repeat("s.", 127)+"s/k")
}

func drawRequirement(r *rand.Rand) string {
	word := func() string {
		if in(r, 12) {
			return drawWord(r)
		}
		return pick(r, "app", "tier", "in", "x.io", "B")
	}
	blank := func() string { return pick(r, "", "", " ", "\t", "\n ") }
	key := blank() + word() + blank()
	switch r.IntN(6) {
	case 0:
		return key
	case 1:
		return "!" + key
	case 2:
		return key + pick(r, "=", "==", "!=") + blank()
	case 3:
		return key + pick(r, "<", ">") + blank() + pick(r, "1", "007", "x", "",
			"9223372036854775807", "9223372036854775808")
	case 4:
		list := []string{word(), pick(r, "", word()), pick(r, "", word())}
		return key + pick(r, " in", " notin", "in", " In") + blank() + "(" +
			strings.Join(list[:r.IntN(4)], blank()+","+blank()) + ")" + blank()
	}
	return key + pick(r, "=", "==", "!=") + blank() + word() + blank()
}

func drawLabels(r *rand.Rand) string {
	var s string

	if in(r, 6) {
		for range r.IntN(8) {
			s += pick(r, drawWord(r), "=", "==", "!=", "!", "<", ">", ",", "(",
				")", " ", "in", "notin", "===", "=!")
		}
		return s
	}
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			s += ","
		}
		s += drawRequirement(r)
	}
	return s
}

func drawFields(r *rand.Rand) string {
	var terms []string

	for range 1 + r.IntN(3)*r.IntN(2) {
		field := pick(r, "metadata.name", "metadata.name", "metadata.name",
			"metadata.namespace", "spec.nodeName", "", "a!b", `me\tadata.name`)
		value := pick(r, "a", "b", "coredns", "", "..", ".", "a/b", "a%b",
			`a\,b`, `a\=b`, `a\\`, `a\b`, `a\`, "a=b", "x y", "würfel", `w\,ü`,
			"=a", "!a", "\xff")
		terms = append(terms, field+pick(r, "=", "=", "==", "!=", "", "!", "===")+value)
	}
	if in(r, 8) {
		terms = append(terms, "")
	}
	return strings.Join(terms, ",")
}

func drawParameter(r *rand.Rand) (key, value string) {
	switch r.IntN(12) {
	case 0, 1:
		return "watch", drawBool(r)
	case 2:
		return "limit", drawNumber(r)
	case 3:
		return "timeoutSeconds", drawNumber(r)
	case 4, 5, 6:
		return "fieldSelector", drawFields(r)
	case 7, 8:
		return "labelSelector", drawLabels(r)
	case 9:
		return "resourceVersion", pick(r, "", "0", "0", "1234", "00")
	case 10:
		return "resourceVersionMatch", pick(r, "", "Exact", "NotOlderThan", "exact")
	}
	return pick(r, "continue", "sendInitialEvents", "pretty", "Watch", ""), drawBool(r)
}

func drawQuery(r *rand.Rand) string {
	var pairs []string

	if in(r, 3) {
		return ""
	}
	if in(r, 3) {
		// Only a list of one object shows whether all its options decode.
		pairs = append(pairs, "fieldSelector="+url.QueryEscape(
			"metadata.name="+pick(r, "a", "b", "coredns,", "a,a!=b")))
	}
	for range 1 + r.IntN(4) {
		key, value := drawParameter(r)
		key = url.QueryEscape(key)
		switch r.IntN(10) {
		case 0:
			pairs = append(pairs, key)
		case 1:
			// As a careless client writes it.
			pairs = append(pairs, key+"="+strings.ToValidUTF8(value, "%ff"))
		default:
			pairs = append(pairs, key+"="+url.QueryEscape(value))
		}
	}
	return "?" + strings.Join(pairs, pick(r, "&", "&", "&", "&", "&&", ";"))
}

// drawRequest makes a request; most make sense, some nearly.
func drawRequest(r *rand.Rand) httpRequest {
	c := httpRequest{drawMethod(r), drawPath(r) + drawQuery(r)}
	for in(r, 5) {
		c.URL = strings.ToValidUTF8(damage(r, c.URL), "")
	}
	if in(r, 100) {
		c.URL = pick(r, "https://host", "http:", "a://b:80") + c.URL
	}
	// What is no UTF-8 the reference replaces, but only in a value of a field
	// selector that has a backslash, too; kapf never does.
	if strings.Contains(c.URL, "%5C") {
		u, err := url.ParseRequestURI(c.URL)
		if err == nil && !utf8.ValidString(u.Query().Get("fieldSelector")) {
			c.URL = u.EscapedPath()
		}
	}
	return c
}

// smaller yields requests like c, with less in the URL.
func (c httpRequest) smaller() iter.Seq[httpRequest] {
	return func(yield func(httpRequest) bool) {
		for n := len(c.URL) / 2; n > 0; n /= 2 {
			for at := 0; at+n <= len(c.URL); at += n {
				shorter := c.URL[:at] + c.URL[at+n:]
				if utf8.ValidString(shorter) &&
					!yield(httpRequest{c.Method, shorter}) {
					return
				}
			}
		}
	}
}

// printable shows what JSON cannot carry: octets that are no ASCII, and %.
func printable(s string) string {
	var b strings.Builder

	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || c == '%' {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
