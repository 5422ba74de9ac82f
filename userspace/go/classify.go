// SPDX-License-Identifier: GPL-2.0

package main

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	_ "unsafe" // for go:linkname

	flowcontrol "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/user"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/util/apihelpers"
	apf "k8s.io/apiserver/pkg/util/flowcontrol"
)

//go:linkname matchesFlowSchema k8s.io/apiserver/pkg/util/flowcontrol.matchesFlowSchema
func matchesFlowSchema(digest apf.RequestDigest, schema *flowcontrol.FlowSchema) bool

//go:linkname hashFlowID k8s.io/apiserver/pkg/util/flowcontrol.hashFlowID
func hashFlowID(schema, distinguisher string) uint64

// digestOf is a request as the reference's filter hands it on.
func digestOf(r request) apf.RequestDigest {
	return apf.RequestDigest{
		RequestInfo: &apirequest.RequestInfo{
			IsResourceRequest: r.Resource != "",
			Path:              r.Path,
			Verb:              r.Verb,
			APIGroup:          r.APIGroup,
			Resource:          r.Resource,
			Subresource:       r.Subresource,
			Namespace:         r.Namespace,
		},
		User: &user.DefaultInfo{Name: r.User, Groups: r.Groups},
	}
}

// match tries one schema after the other, as the reference does under a lock that
// nobody else wants, and does not take here.
func match(schemas []*flowcontrol.FlowSchema, digest apf.RequestDigest) *flowcontrol.FlowSchema {
	for _, schema := range schemas {
		if matchesFlowSchema(digest, schema) {
			return schema
		}
	}
	return nil
}

// newMatching classifies requests by the default schemas and those given.
func newMatching(texts []json.RawMessage, requests []request) work {
	schemas := slices.Concat(bootstrap.MandatoryFlowSchemas,
		bootstrap.SuggestedFlowSchemas)
	for _, text := range texts {
		schema := &flowcontrol.FlowSchema{}
		if err := json.Unmarshal(text, schema); err != nil {
			fail("%s: %v", text, err)
		}
		schemas = append(schemas, schema)
	}
	slices.SortFunc(schemas, func(a, b *flowcontrol.FlowSchema) int {
		if apihelpers.FlowSchemaSequence([]*flowcontrol.FlowSchema{a, b}).Less(0, 1) {
			return -1
		}
		return 1
	})
	digests := make([]apf.RequestDigest, len(requests))
	sum := fnv.New64a()
	for i, r := range requests {
		digests[i] = digestOf(r)
		schema := match(schemas, digests[i])
		if schema == nil {
			fail("no schema for request %+v", r)
		}
		sum.Write([]byte(schema.Name + "\x00"))
	}
	return work{sum: sum.Sum64(), run: func() int {
		for _, digest := range digests {
			if match(schemas, digest) == nil {
				fail("a request without a schema")
			}
		}
		return len(digests)
	}}
}

// newHashing hashes the flow of each request.
func newHashing(requests []request) work {
	return work{run: func() int {
		for i := range requests {
			if hashFlowID(flowcontrol.FlowSchemaNameExempt, requests[i].User) == 0 {
				fail("a flow of hash 0")
			}
		}
		return len(requests)
	}}
}
