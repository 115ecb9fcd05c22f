import {
  clusterListView,
  clusterParams,
  clusterRulesListView,
  clusterRulesView,
  clusterView,
  forgetClusterQuery,
  forgottenClusterView,
  registerClusterBody,
  removeClusterRulesQuery,
  setClusterRulesBody,
} from '../clusters.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.18. */

export const listClusters = endpoint({
  method: 'GET',
  path: '/clusters',
  operation: 'listClusters',
  summary: 'List the clusters of the instance',
  input: {},
  responses: { 200: clusterListView },
});

export const registerCluster = endpoint({
  method: 'PUT',
  path: '/clusters/{name}',
  operation: 'registerCluster',
  summary: 'Register a remote cluster, or change its registration',
  input: { params: clusterParams, body: registerClusterBody },
  responses: { 200: clusterView },
});

export const disableCluster = endpoint({
  method: 'POST',
  path: '/clusters/{name}/disable',
  operation: 'disableCluster',
  summary: 'Stop doing anything for a cluster',
  input: { params: clusterParams },
  responses: { 200: clusterView },
});

export const enableCluster = endpoint({
  method: 'POST',
  path: '/clusters/{name}/enable',
  operation: 'enableCluster',
  summary: 'Serve a cluster again',
  input: { params: clusterParams },
  responses: { 200: clusterView },
});

export const forgetCluster = endpoint({
  method: 'DELETE',
  path: '/clusters/{name}',
  operation: 'forgetCluster',
  summary: 'Revoke the tokens of a cluster, or list what it has',
  input: { params: clusterParams, query: forgetClusterQuery },
  responses: { 200: forgottenClusterView },
});

export const listClusterRules = endpoint({
  method: 'GET',
  path: '/organizations/{org}/clusters',
  operation: 'listClusterRules',
  summary: 'List the clusters, with what the organization allows each',
  input: {},
  responses: { 200: clusterRulesListView },
});

export const getClusterRules = endpoint({
  method: 'GET',
  path: '/organizations/{org}/clusters/{name}',
  operation: 'getClusterRules',
  summary: 'Get what an organization allows a cluster',
  input: { params: clusterParams },
  responses: { 200: clusterRulesView },
});

export const setClusterRules = endpoint({
  method: 'PUT',
  path: '/organizations/{org}/clusters/{name}',
  operation: 'setClusterRules',
  summary: 'Set what an organization allows a cluster',
  input: { params: clusterParams, body: setClusterRulesBody },
  responses: { 200: clusterRulesView },
});

export const removeClusterRules = endpoint({
  method: 'DELETE',
  path: '/organizations/{org}/clusters/{name}',
  operation: 'removeClusterRules',
  summary: 'Remove the rules of an organization for a cluster',
  input: { params: clusterParams, query: removeClusterRulesQuery },
  responses: { 204: null },
});
